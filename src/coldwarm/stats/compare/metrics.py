"""Judging one result against another, metric by metric.

The two were measured at different times and share no rounds, so their processes are never paired
(see ``compare``). Of several runs a side, five or more in all, the run is the unit. Nothing is
measured or summarised anew: the observations are those stored.
"""

from __future__ import annotations

import math
import statistics
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from coldwarm.contracts.base import WARM
from coldwarm.contracts.comparison import ComparedMetric
from coldwarm.contracts.policy import POSSIBLE
from coldwarm.contracts.reasons import because
from coldwarm.stats import many
from coldwarm.stats.compare.limits import Asked, fails, unshown
from coldwarm.stats.compare.runs import are_unit, compare_runs
from coldwarm.stats.drift import steady_state
from coldwarm.stats.intervals import centre
from coldwarm.stats.ratio import compare, fault
from coldwarm.stats.selection import by_round, counted, warm_processes
from coldwarm.stats.summarise import weakened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.base import CacheMode, MetricKind
    from coldwarm.contracts.comparison import ComparedVerdict, UnshownLimit
    from coldwarm.contracts.policy import FigureLimits, Policy
    from coldwarm.contracts.result import CaseResult, Measured, SteadyState

    Values = dict[str, list[float]]

_OF_MEMORY: dict[ComparedVerdict, ComparedVerdict] = {"faster": "less", "slower": "more"}


class Side(NamedTuple):
    """What one result has for a metric."""

    values: Values
    """By process, in seconds or bytes."""
    states: tuple[SteadyState, ...] = ()
    """Of a warm metric: whether the calls of each result were steady."""


_NONE = Side({})


def metrics(case: CaseResult) -> dict[tuple[str, MetricKind], Side]:
    """Return what a case measured: names and kinds of its metrics, and their values."""
    sides: dict[tuple[str, MetricKind], Side] = {}
    for mode in case.protocol.cache_modes:
        sides |= _warm(case) if mode == WARM else _cold(case, mode)
    return {key: side for key, side in sides.items() if side.values}


def _cold(case: CaseResult, mode: CacheMode) -> dict[tuple[str, MetricKind], Side]:
    valid = counted(case.observations, mode)
    first = by_round((o, [o.ttfr_s]) for o in valid if o.ttfr_s is not None)
    whole = by_round((o, [o.ttfr_process_s]) for o in valid if o.ttfr_process_s is not None)
    loops = by_round((o, [o.loop.total_s]) for o in valid if o.loop is not None)
    peaks = by_round((o, [float(peak)]) for o in valid if (peak := o.peak_rss_bytes) is not None)
    return {
        (f"{mode}.ttfr_s", "cold"): Side(first),
        (f"{mode}.ttfr_process_s", "cold"): Side(whole),
        (f"{mode}.total_s", "cold"): Side(loops),
        (f"{mode}.peak_rss_bytes", "memory"): Side(peaks),
    }


def _warm(case: CaseResult) -> dict[tuple[str, MetricKind], Side]:
    processes = warm_processes(case.observations)
    values = by_round((p.observation, p.steadiness.samples) for p in processes)
    return {("warm.call_s", "warm"): Side(values, (steady_state(processes),))}


class Named(NamedTuple):
    """Which figure it is."""

    case: str
    metric: str
    kind: MetricKind


class Figure(NamedTuple):
    """A figure of a case that was compared, and is not yet worded."""

    case: str
    metric: str
    kind: MetricKind
    sides: tuple[Side, Side]
    values: tuple[Values, Values]
    """What was compared: of every process, or of every run."""
    comparison: Comparison
    limits: FigureLimits
    whole: bool
    """Whether the run is the unit."""
    n: int
    """Runs of both sides, where these are the unit, else processes of the side that has fewer."""
    further_s: float | None
    """What one more of them takes in seconds: a run, or a process of either side."""


def judge(
    a: Sequence[Measured], b: Sequence[Measured], cases: Iterable[str], policy: Policy
) -> list[Figure]:
    """Compare every metric that the cases have in all runs; B over A."""
    runs_s = None
    if are_unit(len(a), len(b)):
        took_s = [run.suite.wall_s for run in (*a, *b) if run.suite is not None]
        runs_s = statistics.mean(took_s) if took_s else 0.0
    return [
        figure
        for name in cases
        for figure in _of_case(
            [[run.cases[name] for run in side] for side in (a, b)], policy, runs_s
        )
    ]


def _of_case(
    sides: Sequence[Sequence[CaseResult]], policy: Policy, runs_s: float | None
) -> Iterator[Figure]:
    """Yield the figures of a case; ``runs_s`` is what a run took, where runs are the unit."""
    found = [[metrics(case) for case in side] for side in sides]
    case = sides[0][0]
    whole = runs_s is not None
    for key in {key: None for side in found for run in side for key in run}:
        metric, kind = key
        a, b = ([run.get(key, _NONE) for run in side] for side in found)
        further_s = runs_s or _process_s([one for side in sides for one in side], metric)
        limits = policy.limits(case.case, metric, kind)
        yield figure(
            Named(case.case, metric, kind), (a, b), limits, whole=whole, further_s=further_s
        )


def figure(
    named: Named,
    sides: tuple[Sequence[Side], Sequence[Side]],
    limits: FigureLimits,
    *,
    whole: bool,
    further_s: float | None,
) -> Figure:
    """Compare a metric of which each side has the values of its runs; B over A.

    ``whole``: the run is the unit. ``further_s`` is what one more of them, or one more process,
    takes in seconds.
    """
    a, b = sides
    unit = _runs if whole else _processes
    values = unit(a, "A"), unit(b, "B")
    judged = _compared(named.metric, *values, limits.threshold, whole=whole)
    numbers = [len(side) for side in values]
    return Figure(
        *named,
        sides=(_joined(a, "A"), _joined(b, "B")),
        values=values,
        comparison=_doubted(judged, limits.noise_share),
        limits=limits,
        whole=whole,
        n=sum(numbers) if whole else min(numbers),
        further_s=further_s,
    )


def _compared(metric: str, a: Values, b: Values, threshold: float, *, whole: bool) -> Comparison:
    positive = [value > 0 for side in (a, b) for group in side.values() for value in group]
    if not whole or not a or not b or not all(positive):
        return compare(metric, "A", b, a, threshold=threshold)
    ours, theirs = ([group[0] for group in side.values()] for side in (b, a))
    return compare_runs(metric, "A", ours, theirs, threshold=threshold)


def _doubted(judged: Comparison, noise_share: float) -> Comparison:
    """Return a comparison of single runs: what lies within their noise is not the same either."""
    if judged.verdict != "same" or not noise_share:
        return judged
    noise = because("between_runs", noise_share=noise_share)
    reason = because("several", judged.reason, noise)
    return replace(judged, verdict="undecided", p_value=None, reason=reason)


def _runs(sides: Sequence[Side], label: str) -> Values:
    """Return the figure of each run."""
    return {
        f"{label}{place}": [centre(list(side.values.values()))]
        for place, side in enumerate(sides, 1)
        if side.values
    }


def _processes(sides: Sequence[Side], label: str) -> Values:
    """Name the rounds so that none of A and B, or of two runs, are taken for the same."""
    return {
        f"{label}{place} {key}": samples
        for place, side in enumerate(sides, 1)
        for key, samples in side.values.items()
    }


def _joined(sides: Sequence[Side], label: str) -> Side:
    return Side(_processes(sides, label), tuple(chain.from_iterable(side.states for side in sides)))


def _process_s(cases: Iterable[CaseResult], metric: str) -> float | None:
    took_s = [
        seen.wall_s
        for case in cases
        for mode in case.protocol.cache_modes
        if metric.startswith("warm." if mode == WARM else f"{mode}.")
        for seen in counted(case.observations, mode)
    ]
    return 2 * statistics.mean(took_s) if took_s else None


def _centre(values: Values, *, whole: bool) -> float | None:
    """Return the figure of a side: of runs, whose ratio is judged by logarithms, their mean."""
    if not values:
        return None
    groups = list(values.values())
    return statistics.geometric_mean(group[0] for group in groups) if whole else centre(groups)


def worded(figures: Sequence[Figure]) -> tuple[list[ComparedMetric], list[UnshownLimit]]:
    """Return the figures judged, with their verdicts held to an error rate together."""
    held = many.held([figure.comparison for figure in figures])
    judged = [_worded(*pair) for pair in zip(figures, held, strict=True)]
    return [metric for metric, _ in judged], [it for _, it in judged if it is not None]


def _worded(figure: Figure, judged: Comparison) -> tuple[ComparedMetric, UnshownLimit | None]:
    a, b = figure.values
    lacking = fault({"A": a, "B": b}) if judged.ratio is None else None
    verdict: ComparedVerdict = judged.verdict
    if figure.kind == "memory":
        verdict = _OF_MEMORY.get(verdict, verdict)
    fail_on = {str(name): share for name, share in figure.limits.fail_on.items()}
    fails_beyond = fails(judged, verdict, fail_on)
    states = [state for side in figure.sides for state in side.states]
    made = ComparedMetric(
        case=figure.case,
        metric=figure.metric,
        kind=figure.kind,
        unit="bytes" if figure.kind == "memory" else "s",
        a=_centre(a, whole=figure.whole),
        b=_centre(b, whole=figure.whole),
        n_a=len(a),
        n_b=len(b),
        ratio=judged.ratio,
        low=judged.low,
        high=judged.high,
        confidence=judged.confidence,
        threshold=judged.threshold,
        smallest_detectable=judged.smallest_detectable,
        p_value=judged.p_value,
        verdict=verdict,
        reason=lacking or weakened(judged.reason, *states),
        fails_beyond=fails_beyond,
    )
    if fails_beyond is not None and verdict != "undecided":
        return made, None
    possible = {str(name): fail_on[name] for name in POSSIBLE[figure.kind] if name in fail_on}
    asked = Asked(possible, figure.limits.noise_share, figure.further_s)
    coarse = unshown(figure.case, judged, asked, figure.n)
    if coarse is not None and figure.whole:  # told of either side
        coarse = replace(coarse, n_further=math.ceil(coarse.n_further / 2))
    return made, coarse
