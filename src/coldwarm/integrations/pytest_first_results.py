"""The first result of a function: what a test asks, how it is measured and judged, what is said."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coldwarm.contracts.policy import Policy
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.result import Benchmarks, Measured
from coldwarm.errors import UsageError
from coldwarm.inprocess import sending
from coldwarm.integrations import opening, pytest_session
from coldwarm.report import comparison_text
from coldwarm.report.comparison_text import change
from coldwarm.report.headline import around
from coldwarm.report.sentences import counted, with_advice
from coldwarm.report.units import duration, significant
from coldwarm.runner import recompute, temporary
from coldwarm.runner.case_list import Options
from coldwarm.runner.functions import bench
from coldwarm.runner.functions.targets import Request
from coldwarm.stats.comparable import failure
from coldwarm.stats.compared_results import (
    IncomparableError,
    NothingValidError,
    compare_results,
)
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE
from coldwarm.stats.ratio import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from coldwarm.contracts.answer import Summary
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.bench import NoiseReport
    from coldwarm.contracts.comparison import ComparedMetric, RunComparison


_MODES: dict[str, CacheMode] = {
    "empty": "cold_process_cold_cache",
    "filled": "cold_process_warm_cache",
}
"""By what the caches on disk are before a process starts."""
_MOST = 1.1
"""Times as long as a stored result, by default: as ``coldwarm compare`` has it for starts."""


@dataclass(frozen=True)
class StoredName:
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
class FirstResultRequest:
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
        if self.caches not in _MODES:
            raise UsageError(f"caches={self.caches!r}: give 'empty' or 'filled'")
        if self.processes < FEWEST_FOR_CONFIDENCE:
            few = f"processes={self.processes}: give {FEWEST_FOR_CONFIDENCE} or more"
            raise UsageError(f"{few}; fewer give no interval to judge by")

    @property
    def mode(self) -> CacheMode:
        """The cache mode."""
        return _MODES[self.caches]

    @property
    def wanted(self) -> StoredName:
        """What to look for in a stored result."""
        return StoredName(self.target, self.inputs, self.mode)


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


_SOURCE = "workload"
"""What differs where the function was changed, which is what a test is to see."""
_SHOWN = 5


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


def label_in(baseline: Measured | Benchmarks, asked: StoredName) -> str | None:
    """Return what a stored run calls a target; ``None``: in this file it is called by itself.

    Raises:
        UsageError: it has no such target, but others, which are named.
    """
    of_run = pytest_session.labels(baseline) if isinstance(baseline, Measured) else None
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
    ours: Measured,
    baseline: Measured | Benchmarks,
    asked: StoredName,
    rules: Rules,
    made: Benchmarks,
) -> Against:
    """Hold what was measured against a stored result, as ``coldwarm compare`` does.

    ``made`` is what was measured once more, as benchmarks.

    Raises:
        IncomparableError: a field differs that must agree.
        UsageError: ``allow`` names no field.
        NothingComparableError: there is no valid figure on one of the sides.
    """
    if isinstance(baseline, Measured):
        label = pytest_session.labels(baseline)[asked.target]
        stored = replace(baseline, cases={label: baseline.cases[label]})
        allow = {_SOURCE, *rules.allow}
        compared = compare_results([stored], [ours], Policy(), allow, reports=rules.reports)
        metric = next(one for one in compared.metrics if one.metric == f"{asked.mode}.ttfr_s")
        return Against(compared, metric, rules.below)
    (label,) = ours.cases
    pair = f"{asked.name}={label}/{asked.mode}/first_result"
    compared = compare_results([baseline], [made], Policy(), rules.allow, pairs=[pair])
    return Against(compared, compared.metrics[0], rules.below)


_MOST_CHANGES = 4
_DOCTOR = "coldwarm doctor PROGRAM.py names what it compiles, and where"


def _describe_first_result(asked: FirstResultRequest, taken: Summary) -> str:
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


def _above(asked: FirstResultRequest, taken: Summary, below_s: float) -> str:
    """Say that a first result comes later than it may."""
    taken_s = _describe_first_result(asked, taken)
    lines = [
        f"{taken_s}: all of it above the {duration(below_s)} that it may take",
        f"to do: {_DOCTOR}; if it is to take longer now, raise below={below_s:g}",
    ]
    return "\n".join(lines)


def _ratio(judged: Against) -> str:
    """Return the ratio to the stored result with its interval, and the verdict."""
    one = judged.metric
    if one.ratio is None or one.low is None or one.high is None:
        return f"not to be compared with {judged.comparison.a.path}: {with_advice(one.reason)}"
    interval = f"{one.confidence:.0%} interval {significant(one.low)} to {significant(one.high)}"
    text = f"{significant(one.ratio)} times that of {judged.comparison.a.path}"
    return f"{text} ({interval.replace('%', ' %')}): {one.verdict}"


def later(asked: FirstResultRequest, taken: Summary, judged: Against) -> str:
    """Say that a first result comes later than a stored one allows."""
    return "\n".join(_later(asked, taken, judged))


def _later(asked: FirstResultRequest, taken: Summary, judged: Against) -> Iterator[str]:
    yield f"{asked.target} has its first result too late: {_ratio(judged)}"
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


class _FirstResult(NamedTuple):
    """What was measured, and what is said of it."""

    seconds: Summary
    benchmarks: list[dict[str, Any]]
    """The figures of its processes, to be saved."""
    text: str
    late: str
    """Why the test fails; empty: it does not."""


def first_result(asked: FirstResultRequest, limit: Limit) -> _FirstResult:
    """Measure a first result, one measuring at a time, and hold it against its limit.

    Raises:
        UsageError: it cannot be measured, or not be compared.
        ContractError: the baseline is broken.
    """
    stored = None if limit.baseline is None else opening.read(Path(limit.baseline))
    label = None if stored is None else label_in(stored, asked.wanted)
    with pytest_session.alone():
        ours = _measured(asked, label)
    taken, late = _seconds(ours, asked), ""
    text = _describe_first_result(asked, taken)
    if stored is not None:
        judged = _compared(ours, asked, stored, limit)
        text += f"; {_ratio(judged)}"
        late = later(asked, taken, judged) if judged.too_late else ""
    elif limit.below is not None and is_above(taken, limit.below):
        late = _above(asked, taken, limit.below)
    return _FirstResult(taken, pytest_session.starts(ours, asked.wanted.called), text, late)


def _measured(asked: FirstResultRequest, label: str | None) -> Measured:
    """Measure in fresh processes, one after the other; nothing is left on disk.

    ``label``: what the function is called in a stored result.

    Raises:
        UsageError: it cannot be measured, and why.
    """
    if sys.platform != "linux":
        raise UsageError(with_advice(because("needs_linux", platform=sys.platform)))
    variables = [f"{name}={value}" for name, value in sending.variables(None).items()]
    request = Request(
        targets=[asked.target if label is None else f"{label}={asked.target}"],
        inputs=asked.inputs,
        variables=variables,
        options=Options(
            suite="bench",
            cache_modes=(asked.mode,),
            min_runs=asked.processes,
            max_runs=asked.processes,
            timeout_s=asked.timeout_s,
        ),
    )
    with temporary.made() as folder:
        try:
            outcome = bench.run(request, folder / "out")
        except RefusedError as error:
            raise UsageError(f"{asked.target}: {with_advice(error.reason)}") from None
        if outcome.interrupted:
            raise KeyboardInterrupt
        found = recompute.read(outcome.path)
    why = failure(next(iter(found.cases.values())))
    if why is not None:
        raise UsageError(f"{asked.target} fails in a fresh process: {with_advice(why)}")
    return found


def _seconds(ours: Measured, asked: FirstResultRequest) -> Summary:
    """Return the first result of what was measured.

    Raises:
        UsageError: no process had the caches that were asked for.
    """
    (case,) = ours.cases.values()
    for one in case.cold:
        if one.cache_mode == asked.mode and "ttfr" in one.seconds:
            return one.seconds["ttfr"]
    why = with_advice(case.reason or because("no_valid_process"))
    raise UsageError(f"{asked.target} has no first result: {why}")


def _compared(
    ours: Measured, asked: FirstResultRequest, stored: Measured | Benchmarks, limit: Limit
) -> Against:
    """Hold what was measured against a stored result.

    Raises:
        UsageError: they cannot be compared, and what to do.
    """
    reports = recompute.read_noise(None, [Path(stored.path).parent])
    rules = Rules(limit.below or _MOST, limit.allow, reports)
    try:
        return against(ours, stored, asked.wanted, rules, opening.of_run(ours))
    except IncomparableError as error:
        text = comparison_text.refused(error).replace("--allow ", "allow=")
        raise UsageError(f"{asked.target}, with A {stored.path} and B now: {text}") from None
    except NothingValidError as error:
        raise UsageError(comparison_text.nothing_valid(error)) from None
