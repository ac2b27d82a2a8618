"""Limits of a first result: what a test asks, how it is judged, and what is said when it fails."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from coldwarm.contracts.policy import Policy
from coldwarm.contracts.result import Benchmarks, Measured
from coldwarm.errors import UsageError
from coldwarm.report import units
from coldwarm.report.compare import change
from coldwarm.report.figures import around
from coldwarm.report.sentences import counted, with_advice
from coldwarm.report.units import duration, significant
from coldwarm.stats.compare.results import compare_results
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE
from coldwarm.stats.ratio import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import Summary
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.bench import NoiseReport
    from coldwarm.contracts.comparison import ComparedMetric, RunComparison
    from coldwarm.stats.doctor.seen import Call


MODES: dict[str, CacheMode] = {
    "empty": "cold_process_cold_cache",
    "filled": "cold_process_warm_cache",
}
"""By what the caches on disk are before a process starts."""
MOST = 1.1
"""Times as long as a stored result, by default: as ``coldwarm compare`` has it for starts."""


@dataclass(frozen=True)
class Wanted:
    """The first result of a target."""

    target: str
    inputs: Sequence[str]
    mode: CacheMode

    @property
    def called(self) -> str:
        """What it is called in a saved file: other inputs make another figure."""
        inputs = f"({', '.join(self.inputs)})" if self.inputs else ""
        return f"{self.target}{inputs}"

    @property
    def name(self) -> str:
        """The name of its first result there."""
        return f"{self.called}/{self.mode}/first_result"


@dataclass(frozen=True)
class Asked:
    """What a test wants to know of a first result; see ``Measuring.assert_ttfr``."""

    target: str
    """``package.module:name`` or ``file.py:name``."""
    inputs: Sequence[str] = ()
    caches: str = "empty"
    processes: int = 6
    timeout_s: float = 300.0

    def __post_init__(self) -> None:
        """Check it.

        Raises:
            UsageError: it is not what it must be.
        """
        given: Any = self.target  # whatever a test has given
        if not isinstance(given, str):
            what = f"assert_ttfr takes the name of a function, not a {type(given).__name__}"
            raise UsageError(
                f"{what}: 'package.module:name', so that fresh processes can import it"
            )
        if self.caches not in MODES:
            raise UsageError(f"caches={self.caches!r}: give 'empty' or 'filled'")
        if self.processes < FEWEST_FOR_CONFIDENCE:
            few = f"processes={self.processes}: give {FEWEST_FOR_CONFIDENCE} or more"
            raise UsageError(f"{few}; fewer give no interval to judge by")

    @property
    def mode(self) -> CacheMode:
        """The cache mode."""
        return MODES[self.caches]

    @property
    def wanted(self) -> Wanted:
        """What to look for in a stored result."""
        return Wanted(self.target, self.inputs, self.mode)


@dataclass(frozen=True)
class Limit:
    """How late a first result may come; see ``Measuring.assert_ttfr``."""

    below: float | None
    """With a baseline a ratio, without one seconds."""
    baseline: str | None
    allow: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check it.

        Raises:
            UsageError: it is none.
        """
        given: Any = self.below  # whatever a test has given
        if given is None and self.baseline is None:
            what = "assert_ttfr needs a limit: below=2.0 in seconds"
            raise UsageError(f"{what}, or baseline='out/base', a stored result")
        number = isinstance(given, (int, float)) and not isinstance(given, bool)
        if given is not None and not (number and 0 < given < math.inf):
            raise UsageError(f"below={given!r}: give a number above 0")


SOURCE = "workload"
"""What differs where the function was changed, which is what a test is to see."""
_SHOWN = 5
T = TypeVar("T")


class Rules(NamedTuple):
    """How a first result is held against a stored one."""

    below: float
    """The ratio that may not be exceeded."""
    allow: Collection[str] = ()
    """What may differ between the two, besides the source of the function."""
    reports: Sequence[NoiseReport] = ()
    """Of the noise of this machine."""


@dataclass(frozen=True)
class Against:
    """A first result held against a stored one."""

    comparison: RunComparison
    metric: ComparedMetric
    below: float
    """The ratio that may not be exceeded."""

    @property
    def most(self) -> float:
        """The same, where the known noise between two runs makes it more."""
        noise = self.comparison.noise
        share = noise.shares.get("cold", 0.0) if noise else 0.0
        return max(self.below, min(self.below, 1.0) * (1.0 + share))

    @property
    def too_late(self) -> bool:
        """Whether the whole interval of the ratio lies above."""
        low = self.metric.low
        return low is not None and self.metric.confidence >= CONFIDENCE and low > self.most


def is_above(seconds: Summary, below_s: float) -> bool:
    """Say whether the whole interval of a median lies above so many seconds."""
    enough = seconds.n_processes >= FEWEST_FOR_CONFIDENCE
    return enough and seconds.low is not None and seconds.low > below_s


def labels(baseline: Measured) -> dict[str, str]:
    """Return by target what a stored run calls it."""
    own = {name: case.protocol.own for name, case in baseline.cases.items()}
    return {one.target: name for name, one in own.items() if one is not None and one.target}


def by_target(made: Benchmarks, measured: Measured) -> Benchmarks:
    """Return the benchmarks of a run, each called by the target that was measured."""
    named = {label: target for target, label in labels(measured).items()}
    return replace(
        made,
        benchmarks=_renamed(made.benchmarks, named),
        failed=_renamed(made.failed, named),
        left_out=_renamed(made.left_out, named),
        short_names={},
    )


def _renamed(of: Mapping[str, T], named: Mapping[str, str]) -> dict[str, T]:
    split = ((name.partition("/"), one) for name, one in of.items())
    return {f"{named.get(head, head)}{slash}{rest}": one for (head, slash, rest), one in split}


def label_in(baseline: Measured | Benchmarks, asked: Wanted) -> str | None:
    """Return what a stored run calls a target; ``None``: in this file it is called by itself.

    Raises:
        UsageError: it has no such target, but others, which are named.
    """
    of_run = labels(baseline) if isinstance(baseline, Measured) else None
    there = list(baseline.benchmarks if isinstance(baseline, Benchmarks) else of_run or ())
    wanted = asked.name if of_run is None else asked.target
    if wanted not in there:
        more = f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
        shown = ", ".join(there[:_SHOWN]) or "nothing"
        text = f"{baseline.path} has no result of {wanted}; it has {shown}{more}"
        raise UsageError(
            f"{text}. Make one with --coldwarm-save, or with coldwarm bench {asked.target}"
        )
    return None if of_run is None else of_run[asked.target]


def against(
    ours: Measured, baseline: Measured | Benchmarks, asked: Wanted, rules: Rules, made: Benchmarks
) -> Against:
    """Hold what was measured against a stored result, as ``coldwarm compare`` does.

    ``made`` is what was measured once more, as benchmarks.

    Raises:
        IncomparableError: a field differs that must agree.
        UsageError: ``allow`` names no field.
        NothingComparableError: there is no valid figure on one of the sides.
    """
    if isinstance(baseline, Measured):
        label = labels(baseline)[asked.target]
        stored = replace(baseline, cases={label: baseline.cases[label]})
        allow = {SOURCE, *rules.allow}
        compared = compare_results([stored], [ours], Policy(), allow, reports=rules.reports)
        metric = next(one for one in compared.metrics if one.metric == f"{asked.mode}.ttfr_s")
        return Against(compared, metric, rules.below)
    (label,) = ours.cases
    pair = f"{asked.name}={label}/{asked.mode}/first_result"
    compared = compare_results([baseline], [made], Policy(), rules.allow, pairs=[pair])
    return Against(compared, compared.metrics[0], rules.below)


_MOST_CALLS, _MOST_DIFFERENCES, _MOST_VALUES = 10, 3, 4
_LONGEST = 240
"""Characters of the arguments of a call."""
_LISTED = ("static", "shape", "dtype", "type")
"""Kinds of difference of which each earlier call has a value that can be shown."""


def told(calls: Sequence[Call], everything: Sequence[Call]) -> str:
    """Return where something was compiled, and why again, with the argument's earlier values.

    ``everything``: all calls of this process so far, these among them.
    """
    lines = [line for one in calls[:_MOST_CALLS] for line in _lines(one, everything)]
    if len(calls) > _MOST_CALLS:
        lines.append(f"  … and {len(calls) - _MOST_CALLS} more")
    return "\n".join(lines)


def _lines(call: Call, everything: Sequence[Call]) -> Iterator[str]:
    where = f"{call.site.path}:{call.site.line}" if call.site else "at no line of a file"
    given = ", ".join(
        [f"{name}: {kind}" for name, kind in call.arguments.items()]
        + [f"{name}={value}" for name, value in call.static.items()]
    )
    given = given if len(given) <= _LONGEST else f"{given[:_LONGEST]}…"
    read = "read from the cache in" if call.hit else "compiled in"
    yield f"  {where}: {call.name}({given}), {read} {units.duration(call.total_s)}"
    if call.cause.get("kind") == "first" and not call.differences:
        yield "    for the first time"
        return
    number = call.cause.get("n_objects")
    if call.cause.get("kind") == "new_function":
        what = f"the {_ordinal(number)} function object" if number else "another function object"
        yield f"    `jit` got {what} of this code: make the jitted function once, and keep it"
        for each in call.cause.get("held") or ():
            held = f"`{each['argument']}`, which is {each['now']}; it was {each['before']}"
            yield f"    the function holds {held}"
    elif not call.differences:
        yield "    again, and nothing that is watched differed"
    earlier = [
        one
        for one in everything
        if one.number < call.number and one.name == call.name and _code(one) == _code(call)
    ]
    for each in call.differences[:_MOST_DIFFERENCES]:
        yield f"    {_difference(each, earlier)}"
    if len(call.differences) > _MOST_DIFFERENCES:
        yield f"    … and {len(call.differences) - _MOST_DIFFERENCES} more differences"


def _code(call: Call) -> tuple[object, object]:
    return call.function.get("path"), call.function.get("line")


def _ordinal(number: int) -> str:
    tens = number % 100 in {11, 12, 13}
    return f"{number}{'th' if tens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _difference(each: Mapping[str, str], earlier: Sequence[Call]) -> str:
    kind, name, now = each["kind"], each["argument"], each["now"]
    before = each["before"]
    if kind in _LISTED:
        return f"`{name}` is {now}; it was {_values(name, now, before, earlier)}"
    if kind == "tree":
        return f"`{name}` is built otherwise: {now}; it was {before}"
    if kind == "commitment":
        words = {"True": "was put on a device by name", "False": "was not put on a device by name"}
        return f"`{name}` {words.get(now, now)}; before, it {words.get(before, before)}"
    if kind == "context":
        return f"the setting `{name}` is {now}; it was {before}"
    if kind == "transform":
        return f"it is called inside of {_inside(now)}; before, inside of {_inside(before)}"
    return f"`{name}` is {now}; it was {before}"


def _inside(tracers: str) -> str:
    return "no transformation" if tracers == "none" else tracers


def _values(name: str, now: str, nearest: str, earlier: Sequence[Call]) -> str:
    """Return the value in the call that is most alike, and those that the argument had besides."""
    had = [{**one.arguments, **one.static}.get(name) for one in earlier]
    others = list(dict.fromkeys(one for one in had if one not in {None, now, nearest}))
    if not others:
        return nearest
    left = len(others) - _MOST_VALUES
    more = f" and {left} more" if left > 0 else ""
    return f"{nearest}, and before {', '.join(map(str, others[:_MOST_VALUES]))}{more}"


_MOST_CHANGES = 4
_DOCTOR = "coldwarm doctor PROGRAM.py names what it compiles, and where"


def first_result(asked: Asked, taken: Summary) -> str:
    """Return the figure of a first result with its interval."""
    caches = f"{asked.caches} caches"
    return f"{asked.target}, first result, {caches}: {_figure(taken)}"


def _figure(taken: Summary) -> str:
    level = f"{taken.confidence:.0%} interval".replace("%", " %")
    interval = around(taken).replace("…", "to")
    from_ = counted(taken.n_processes, "process")
    return (
        f"{duration(taken.median)} ({level} {interval}, {from_})"
        if interval
        else (f"{duration(taken.median)} ({from_}, no interval)")
    )


def above(asked: Asked, taken: Summary, below_s: float) -> str:
    """Say that a first result comes later than it may."""
    lines = [
        f"{first_result(asked, taken)}: all of it above the {duration(below_s)} that it may take",
        f"to do: {_DOCTOR}; if it is to take longer now, raise below={below_s:g}",
    ]
    return "\n".join(lines)


def ratio(judged: Against) -> str:
    """Return the ratio to the stored result with its interval, and the verdict."""
    one = judged.metric
    if one.ratio is None or one.low is None or one.high is None:
        return f"not to be compared with {judged.comparison.a.path}: {with_advice(one.reason)}"
    interval = f"{one.confidence:.0%} interval {significant(one.low)} to {significant(one.high)}"
    text = f"{significant(one.ratio)} times that of {judged.comparison.a.path}"
    return f"{text} ({interval.replace('%', ' %')}): {one.verdict}"


def later(asked: Asked, taken: Summary, judged: Against) -> str:
    """Say that a first result comes later than a stored one allows."""
    return "\n".join(_later(asked, taken, judged))


def _later(asked: Asked, taken: Summary, judged: Against) -> Iterator[str]:
    yield f"{asked.target} has its first result too late: {ratio(judged)}"
    most = f"at most {significant(judged.below)} times"
    if judged.most > judged.below:
        most += f" ({significant(judged.most)}, as two equal runs differ by so much here)"
    yield f"allowed: {most}, by below={judged.below:g}"
    yield f"B, now:  {_figure(taken)}"
    side, one = judged.comparison.a, judged.metric
    when = f", of {side.started_at}" if side.started_at else ""
    then = "" if one.a is None else f"{duration(one.a)} ({counted(one.n_a, 'process')}{when})"
    yield f"A, then: {then}"
    software = judged.comparison.software
    if software:
        more = "; …" if len(software) > _MOST_CHANGES else ""
        yield f"differs: {'; '.join(map(change, software[:_MOST_CHANGES]))}{more}"
    for reason in judged.comparison.warnings:
        yield f"care:    {with_advice(reason)}"
    yield (
        f"to do:   {_DOCTOR}; coldwarm bench {asked.target} --before COMMIT measures two"
        " commits together; if it is to take longer now, store a new result (--coldwarm-save)"
    )
