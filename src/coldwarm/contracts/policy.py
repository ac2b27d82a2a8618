"""What of a comparison matters, and what difference fails.

Of several rules for a figure, each later one replaces what it sets itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, get_args

from coldwarm.contracts.comparison import MetricKind
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

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
    """How many more are allowed than there were: a number of them, or a share of those."""

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
    """What two equal runs differ by, which is more than the threshold that was asked for."""


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
    """What fails of one kind of figure, in place of ``fail_on``."""
    rules: tuple[Rule, ...] = ()
    path: str = ""
    noise: Mapping[MetricKind, float] = field(default_factory=dict)
    """The relative difference that two equal runs stay within: no threshold is below it."""
    counts: Mapping[str, CountLimit] = field(default_factory=dict)
    """What fails of counts of what was compiled."""

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
                raise policy_fault(self.path, rule.cases_line, "cases", what)
            kinds = {kind for _, metric, kind in cases if fnmatchcase(metric, rule.metrics)}
            if not kinds:
                known = ", ".join(sorted({metric for _, metric, _ in cases}))
                what = f"the pattern {rule.metrics!r} matches no metric there; there are {known}"
                raise policy_fault(self.path, rule.metrics_line, "metrics", what)
            self._refuse_pointless(rule, kinds)

    def _refuse_pointless(self, rule: Rule, kinds: Collection[MetricKind]) -> None:
        """Refuse a verdict that none of a rule's figures can have."""
        possible = {direction for kind in kinds for direction in POSSIBLE[kind]}
        never = [name for name in rule.fail_on or {} if name not in possible]
        if never:
            what = (
                f"no figure of this rule can be {never[0]!r}, only {' or '.join(sorted(possible))}"
            )
            raise policy_fault(self.path, rule.cases_line, "fail_on", what)


def policy_fault(path: str, line: int | None, name: str, what: str) -> UsageError:
    """Return the error for what stands in a line of a policy file."""
    place = path if line is None else f"{path}:{line}"
    return UsageError(": ".join(part for part in (place, name, what) if part))
