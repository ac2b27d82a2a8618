"""Policies, which say what fails: from the command line, and from a file in TOML."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
from msgspec.structs import asdict

from coldwarm.contracts.base import MetricKind, Record
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path


_ROUNDING = 1e-9

Failing = Literal["faster", "slower", "less", "more", "undecided"]
FAILING: tuple[Failing, ...] = get_args(Failing)
"""The verdicts that can fail."""
DIRECTIONS = tuple(name for name in FAILING if name != "undecided")
KINDS: tuple[MetricKind, ...] = get_args(MetricKind)
POSSIBLE: dict[MetricKind, tuple[Failing, ...]] = {
    "cold": ("faster", "slower", "undecided"),
    "warm": ("faster", "slower", "undecided"),
    "memory": ("less", "more", "undecided"),
}
"""The verdicts, besides ``same``, that a kind of figure can have."""
THRESHOLDS: dict[MetricKind, float] = {"cold": 0.1, "warm": 0.05, "memory": 0.1}
"""The relative difference that matters, where nothing else is asked for.

They are wider than within a run, since they must also hold what changes between two runs of one
program and shows in neither's interval: the frequency and neighbours of the hour for a warm call,
besides that the state of the file cache for a start, and for memory how many pages of mapped
files happen to be resident."""


@dataclass(frozen=True)
class CountLimit:
    """The most that may be added: a number, or a share of what there was."""

    more: int = 0
    share: float = 0.0

    def allowed(self, reference: int) -> int:
        """Return the most that does not fail."""
        return reference + max(self.more, math.floor(reference * self.share + _ROUNDING))


@dataclass(frozen=True)
class FigureLimits:
    """For one figure: the relative difference that matters, and those that fail."""

    threshold: float
    fail_on: dict[Failing, float]
    noise_share: float = 0.0
    """Difference between two equal runs, which is more than the threshold that was asked for."""


@dataclass(frozen=True)
class Rule:
    """A rule of a policy file with its numbers read, and the lines of its patterns."""

    cases: str
    metrics: str
    threshold: float | None
    fail_on: dict[Failing, float] | None
    cases_line: int
    metrics_line: int


@dataclass(frozen=True)
class Policy:
    """Thresholds and limits for every figure."""

    thresholds: dict[MetricKind, float] = field(default_factory=THRESHOLDS.copy)
    fail_on: dict[Failing, float] = field(default_factory=dict)
    fail_on_kind: dict[MetricKind, dict[Failing, float]] = field(default_factory=dict)
    """Limits for one kind of figure, in place of ``fail_on``."""
    rules: tuple[Rule, ...] = ()
    path: str = ""
    noise: Mapping[MetricKind, float] = field(default_factory=dict)
    """The relative difference that two equal runs stay within: no threshold is below it."""
    counts: Mapping[str, CountLimit] = field(default_factory=dict)
    """Limits for counts of what was compiled."""

    def limits(self, case: str, metric: str, kind: MetricKind) -> FigureLimits:
        """Return what holds for a figure."""
        found = self._asked(case, metric, kind)
        noise_share = self.noise.get(kind, 0.0)
        if noise_share <= found.threshold:
            return found
        return replace(found, threshold=noise_share, noise_share=noise_share)

    def _asked(self, case: str, metric: str, kind: MetricKind) -> FigureLimits:
        fail_on = self.fail_on | self.fail_on_kind.get(kind, {})
        found = FigureLimits(self.thresholds[kind], fail_on)
        for rule in self.rules:
            if fnmatchcase(case, rule.cases) and fnmatchcase(metric, rule.metrics):
                if rule.threshold is not None:
                    found = replace(found, threshold=rule.threshold)
                if rule.fail_on is not None:
                    found = replace(found, fail_on=rule.fail_on)
        return found

    def refuse_unmatched(self, figures: Collection[tuple[str, str, MetricKind]]) -> None:
        """Refuse rules that apply to none of the figures: case, metric and kind of each.

        Raises:
            UsageError: a pattern matches nothing, or only figures that no such verdict is for.
        """
        for rule in self.rules:
            cases = [figure for figure in figures if fnmatchcase(figure[0], rule.cases)]
            if not cases:
                known = ", ".join(sorted({case for case, _, _ in figures}))
                what = f"the pattern {rule.cases!r} matches no compared case; there are {known}"
                raise _policy_fault(self.path, rule.cases_line, "cases", what)
            kinds = {kind for _, metric, kind in cases if fnmatchcase(metric, rule.metrics)}
            if not kinds:
                known = ", ".join(sorted({metric for _, metric, _ in cases}))
                what = f"the pattern {rule.metrics!r} matches no metric there; there are {known}"
                raise _policy_fault(self.path, rule.metrics_line, "metrics", what)
            self._refuse_pointless(rule, kinds)

    def _refuse_pointless(self, rule: Rule, kinds: Collection[MetricKind]) -> None:
        """Refuse a verdict that none of a rule's figures can have."""
        possible = {direction for kind in kinds for direction in POSSIBLE[kind]}
        never = [name for name in rule.fail_on or {} if name not in possible]
        if never:
            what = (
                f"no figure of this rule can be {never[0]!r}, only {' or '.join(sorted(possible))}"
            )
            raise _policy_fault(self.path, rule.cases_line, "fail_on", what)


def _policy_fault(path: str, line: int | None, name: str, what: str) -> UsageError:
    """Return the error for what stands in a line of a policy file."""
    place = path if line is None else f"{path}:{line}"
    return UsageError(": ".join(part for part in (place, name, what) if part))


_SHARE = re.compile(r"\s*(?:(?P<percent>\d+(?:\.\d+)?)\s*%|(?P<part>0?\.\d+))\s*")
"""``5%`` or ``0.05``; a number of 1 or more without ``%`` could mean either."""
_MOST_BYTES = 2**20
_WHERE = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)
_UNKNOWN = re.compile(r"unknown field `(?P<name>.*)`")
_MISSING = re.compile(r"missing required field `(?P<name>.*)`")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


class _Threshold(float):
    """A relative difference above 0, written as text such as ``"5%"``."""


class _Limit(float):
    """A relative difference, which may be 0."""


class _PolicyThresholds(Record, frozen=True, kw_only=True):
    """The difference that matters for each kind of figure, as text such as ``"5%"``."""

    cold: _Threshold | None = None
    warm: _Threshold | None = None
    memory: _Threshold | None = None


class _PolicyFailures(Record, frozen=True, kw_only=True):
    """Beyond which difference a verdict fails, as text such as ``"5%"``; absent: never."""

    faster: _Limit | None = None
    slower: _Limit | None = None
    less: _Limit | None = None
    more: _Limit | None = None
    undecided: _Limit | None = None


class _PolicyRule(Record, frozen=True, kw_only=True):
    """Rule for some figures only."""

    cases: str
    """Pattern of case names: ``*`` any text, ``?`` any character, ``[…]`` one of these."""
    metrics: str = "*"
    """Pattern of metric names, such as ``*.ttfr_s`` or ``warm.*``."""
    threshold: _Threshold | None = None
    fail_on: _PolicyFailures | None = None
    """Replaces what held before as a whole; an empty table means that nothing fails."""


class _PolicyFile(Record, frozen=True, kw_only=True):
    """A policy file for ``--policy`` of ``coldwarm compare`` and ``coldwarm bench``, in TOML."""

    threshold: _PolicyThresholds = _PolicyThresholds()
    fail_on: _PolicyFailures | None = None
    rule: list[_PolicyRule] = []


def share(text: str, *, zero: bool = False) -> float:
    """Return a relative difference such as ``5%`` or ``0.05`` as a number, 0.05.

    Raises:
        ValueError: it is none, above 1000 %, or zero where that makes no sense.
    """
    matched = _SHARE.fullmatch(text)
    value = math.nan
    if matched:
        percent, part = matched["percent"], matched["part"]
        value = float(part) if percent is None else float(percent) / 100
    if not (0 < value <= 10 or (zero and value == 0)):  # noqa: PLR2004 - 1000 %, as it says
        message = (
            f"{text!r} is no relative difference; write one such as 5% or 0.05 (at most 1000%)"
        )
        raise ValueError(message)
    return value


def read_policy(path: Path, base: Policy) -> Policy:
    """Read a policy file over what the options say.

    Raises:
        UsageError: it cannot be read or says something that no policy says.
    """
    try:
        if path.exists() and (not path.is_file() or path.stat().st_size > _MOST_BYTES):
            raise _policy_fault(str(path), None, "", "is no file of a policy")
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text)
    except RecursionError:
        raise _policy_fault(str(path), None, "", "is nested too deeply for a policy") from None
    except OSError as error:
        what = f"cannot be read: {error.strerror}; --policy names a TOML file with limits, such as"
        raise _policy_fault(str(path), None, "", f"{what} fail_on.slower = '5%'") from None
    except UnicodeDecodeError:
        raise _policy_fault(str(path), None, "", "is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise _policy_fault(str(path), None, "", f"is not TOML: {error}") from None
    try:
        given = msgspec.convert(document, _PolicyFile, dec_hook=_share_of)
    except msgspec.ValidationError as error:
        raise _explained(str(error), str(path), text) from None
    return Policy(
        thresholds=base.thresholds | _set(given.threshold),
        # What the command line says holds over the file.
        fail_on=_set(given.fail_on) | base.fail_on,
        fail_on_kind=base.fail_on_kind,
        rules=tuple(_rule(str(path), text, *numbered) for numbered in enumerate(given.rule)),
        path=str(path),
    )


def _share_of(kind: type[float], text: object) -> float:
    if not isinstance(text, str):
        message = f"expected text in quotes, got {type(text).__name__}"
        raise ValueError(message)  # noqa: TRY004 - msgspec turns a ValueError into its own
    return kind(share(text, zero=kind is _Limit))


def _set(given: _PolicyThresholds | _PolicyFailures | None) -> dict[Any, float]:
    """Return what a table sets, by the names of its keys."""
    known = {} if given is None else asdict(given)
    return {name: float(value) for name, value in known.items() if value is not None}


def _rule(path: str, text: str, place: int, rule: _PolicyRule) -> Rule:
    cases_line = _line_of(text, ("rule", place, "cases"))
    if rule.threshold is None and rule.fail_on is None:
        what = "sets nothing: give a threshold, or fail_on"
        raise _policy_fault(path, cases_line, "rule", what)
    return Rule(
        cases=rule.cases,
        metrics=rule.metrics,
        threshold=rule.threshold,
        fail_on=None if rule.fail_on is None else _set(rule.fail_on),
        cases_line=cases_line,
        metrics_line=_line_of(text, ("rule", place, "metrics")),
    )


def _line_of(text: str, path: Sequence[str | int]) -> int:
    """Return the line (from 1) at which a field of a TOML text most likely stands.

    Tables and keys are looked for as they are usually written, one to a line; a field inside an
    inline table has the line of that table.
    """
    lines = text.splitlines()
    line = 0
    for place, step in enumerate(path):
        if isinstance(step, int):
            continue
        wanted = path[place + 1] if place + 1 < len(path) else 0
        name = re.escape(step)
        pattern = rf"\s*(\[+[\w\s.]*\b{name}\s*\]|{name}\s*[=.])"
        hits = [n for n in range(line, len(lines)) if re.match(pattern, lines[n])]
        if not hits:
            break
        line = hits[min(wanted, len(hits) - 1)] if isinstance(wanted, int) else hits[0]
    return line + 1


def _explained(message: str, path: str, text: str) -> UsageError:
    """Turn a validation error into one that names the line and the field."""
    matched = _WHERE.match(message)
    what, where = (matched["what"], matched["path"] or "") if matched else (message, "")
    steps = tuple(key or int(index) for key, index in _STEP.findall(where))
    unknown, missing = _UNKNOWN.search(what), _MISSING.search(what)
    if unknown:
        steps = (*steps, unknown["name"])
        what = f"is no key of a policy; known here: {', '.join(_keys(steps[:-1]))}"
    elif missing:
        what = f"needs a key {missing['name']}"
    else:
        what = what.replace("`", "").replace(" | null", "")
        what = what.replace("Expected str", "expected text in quotes").replace(
            "Expected", "expected"
        )
    return _policy_fault(path, _line_of(text, steps), _dotted(steps), what)


def _keys(path: Sequence[str | int]) -> tuple[str, ...]:
    """Return the keys that are known in the table at a path."""
    names = [step for step in path if isinstance(step, str)]
    tables: dict[str, type[Record]] = {
        "threshold": _PolicyThresholds,
        "fail_on": _PolicyFailures,
        "rule": _PolicyRule,
    }
    table = tables[names[-1]] if names else _PolicyFile
    return table.__struct_encode_fields__


def _dotted(path: Sequence[str | int]) -> str:
    return "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in path).removeprefix(".")
