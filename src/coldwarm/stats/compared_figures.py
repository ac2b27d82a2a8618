"""Figures of two results, judged one by one, and which limits fail or were not shown. Pure.

The two were measured at different times and share no rounds, so their processes are never paired
(see ``compare``). Of several runs a side, five or more in all, the run is the unit. Nothing is
measured or summarised anew: the observations are those stored.

What changes from run to run (the hour, the state of the file cache, where memory came to lie) is
then in the interval. Runs of one machine scatter alike, so the scatter is taken from both sides
together: Student's t with n_a + n_b - 2 degrees of freedom, on logarithms. A side with a single run
shows no scatter of its own, and that run may be the odd one: of four equal runs against one, 7 in
100 simulated pairs were called different, where 3 are stated (``benchmarks/more_rounds.py``). So it
gives no verdict, whatever the other side has.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec.structs import replace

from coldwarm.contracts.answer import COUNT_NAMES, Comparison, CountVerdict
from coldwarm.contracts.base import WARM
from coldwarm.contracts.comparison import ComparedMetric, UnshownLimit
from coldwarm.contracts.policy import POSSIBLE
from coldwarm.contracts.reasons import because
from coldwarm.stats import intervals, ratio
from coldwarm.stats.comparable import are_unit, lone
from coldwarm.stats.intervals import (
    FEWEST_FOR_CONFIDENCE,
    FEWEST_FOR_INTERVAL,
    Interval,
    centre,
    student,
)
from coldwarm.stats.ratio import (
    CONFIDENCE,
    LARGEST_EXPONENT,
    Differences,
    beyond,
    compare,
    compare_differences,
    fault,
)
from coldwarm.stats.selection import by_round, counted, warm_processes
from coldwarm.stats.summarise import cold_rounds, steady_state, weakened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode, MetricKind
    from coldwarm.contracts.comparison import ComparedVerdict
    from coldwarm.contracts.observation import Counts
    from coldwarm.contracts.policy import CountLimit, FigureLimits, Policy
    from coldwarm.contracts.result import CaseResult, Measured, SteadyState

    Values = dict[str, list[float]]


_OF_MEMORY: dict[ComparedVerdict, ComparedVerdict] = {"faster": "less", "slower": "more"}


class Side(NamedTuple):
    """Values of one result for a metric."""

    values: Values
    """By process, in seconds or bytes."""
    states: tuple[SteadyState, ...] = ()
    """For a warm metric: whether the calls of each result were steady."""


_NONE = Side({})


def metrics(case: CaseResult) -> dict[tuple[str, MetricKind], Side]:
    """Return what a case measured: names and kinds of its metrics, and their values."""
    sides: dict[tuple[str, MetricKind], Side] = {}
    for mode in case.protocol.cache_modes:
        sides |= _warm(case) if mode == WARM else _cold(case, mode)
    return {key: side for key, side in sides.items() if side.values}


def _cold(case: CaseResult, mode: CacheMode) -> dict[tuple[str, MetricKind], Side]:
    valid = counted(case.observations, mode)
    peaks = by_round((o, [float(peak)]) for o in valid if (peak := o.peak_rss_bytes) is not None)
    return {
        **{
            (f"{mode}.{name}_s", "cold"): Side(cold_rounds(case.observations, mode, name))
            for name in ("ttfr", "ttfr_process", "total")
        },
        (f"{mode}.peak_rss_bytes", "memory"): Side(peaks),
    }


def _warm(case: CaseResult) -> dict[tuple[str, MetricKind], Side]:
    processes = warm_processes(case.observations)
    values = by_round((p.observation, p.steadiness.samples) for p in processes)
    return {("warm.call_s", "warm"): Side(values, (steady_state(processes),))}


@dataclass(frozen=True)
class PairedFigure:
    """A figure of a case that both sides have, B over A."""

    case: str
    metric: str
    kind: MetricKind
    a: Sequence[Side]
    """Sides of each run of A."""
    b: Sequence[Side]
    limits: FigureLimits
    whole: bool
    """Whether the run is the unit."""
    further_s: float | None = None
    """Seconds of one more of these: a run, or a process of either side."""

    @cached_property
    def values(self) -> tuple[Values, Values]:
        """Values to compare: of every process, or of every run."""
        unit = _runs if self.whole else _processes
        return unit(self.a, "A"), unit(self.b, "B")

    @property
    def n(self) -> int:
        """Runs of both sides, where these are the unit, else processes of the side with fewer."""
        numbers = [len(side) for side in self.values]
        return sum(numbers) if self.whole else min(numbers)

    def compared(self) -> Comparison:
        """Compare the sides; what lies within the noise of single runs is not the same either."""
        threshold, noise_share = self.limits.threshold, self.limits.noise_share
        judged = _compared(self.metric, *self.values, threshold, whole=self.whole)
        if judged.verdict != "same" or not noise_share:
            return judged
        noise = because("between_runs", noise_share=noise_share)
        reason = because("several", judged.reason, noise)
        return replace(judged, verdict="undecided", p_value=None, reason=reason)


def judge(
    a: Sequence[Measured], b: Sequence[Measured], cases: Iterable[str], policy: Policy
) -> list[PairedFigure]:
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
) -> Iterator[PairedFigure]:
    """Yield the figures of a case; ``runs_s`` is what a run took, where runs are the unit."""
    found = [[metrics(case) for case in side] for side in sides]
    case = sides[0][0]
    whole = runs_s is not None
    for key in {key: None for side in found for run in side for key in run}:
        metric, kind = key
        a, b = ([run.get(key, _NONE) for run in side] for side in found)
        further_s = runs_s or _process_s([one for side in sides for one in side], metric)
        limits = policy.limits(case.case, metric, kind)
        yield PairedFigure(case.case, metric, kind, a, b, limits, whole, further_s)


def _compared(metric: str, a: Values, b: Values, threshold: float, *, whole: bool) -> Comparison:
    positive = [value > 0 for side in (a, b) for group in side.values() for value in group]
    if not whole or not a or not b or not all(positive):
        return compare(metric, "A", b, a, threshold=threshold)
    ours, theirs = ([group[0] for group in side.values()] for side in (b, a))
    return _compare_runs(metric, "A", ours, theirs, threshold=threshold)


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


def worded(figures: Sequence[PairedFigure]) -> tuple[list[ComparedMetric], list[UnshownLimit]]:
    """Return the figures judged, with their verdicts held to an error rate together."""
    held = ratio.held([figure.compared() for figure in figures])
    judged = [_worded(*pair) for pair in zip(figures, held, strict=True)]
    return [metric for metric, _ in judged], [it for _, it in judged if it is not None]


def _worded(figure: PairedFigure, judged: Comparison) -> tuple[ComparedMetric, UnshownLimit | None]:
    a, b = figure.values
    lacking = fault({"A": a, "B": b}) if judged.ratio is None else None
    verdict: ComparedVerdict = judged.verdict
    if figure.kind == "memory":
        verdict = _OF_MEMORY.get(verdict, verdict)
    fail_on = {str(name): share for name, share in figure.limits.fail_on.items()}
    fails_beyond = fails(judged, verdict, fail_on)
    states = [state for side in (*figure.a, *figure.b) for state in side.states]
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
    coarse = unshown(
        figure.case,
        judged,
        possible,
        figure.n,
        round_s=figure.further_s,
        noise_share=figure.limits.noise_share,
    )
    if coarse is not None and figure.whole:  # told of either side
        coarse = replace(coarse, n_further=math.ceil(coarse.n_further / 2))
    return made, coarse


def _compare_runs(
    metric: str, baseline: str, ours: Sequence[float], theirs: Sequence[float], *, threshold: float
) -> Comparison:
    """Compare figures of runs, all above 0; five or more on both sides together."""
    sides = [[math.log(value) for value in side] for side in (ours, theirs)]
    means = [statistics.fmean(side) for side in sides]
    extent = min(sides[0]) - max(sides[1]), max(sides[0]) - min(sides[1])
    if (alone := lone(len(ours), len(theirs))) is not None:
        return Comparison(
            metric=metric,
            baseline=baseline,
            ratio=math.exp(means[0] - means[1]),
            low=math.exp(extent[0]),
            high=math.exp(extent[1]),
            confidence=1 - 2 / (len(ours) + len(theirs)),  # that a single one is not outermost
            threshold=threshold,
            smallest_detectable=None,
            verdict="undecided",
            reason=alone,
        )
    squares = math.fsum(
        (value - mean) ** 2 for side, mean in zip(sides, means, strict=True) for value in side
    )
    freedom = len(ours) + len(theirs) - 2
    error = math.sqrt(squares / freedom * (1 / len(ours) + 1 / len(theirs)))
    middle = means[0] - means[1]

    def bounded(confidence: float) -> Interval:
        half = student(0.5 + confidence / 2, freedom) * error
        return Interval(middle, middle - half, middle + half)

    basis = because("separate_runs", n_ours=len(ours), n_baseline=len(theirs))
    found = Differences(bounded, extent, freedom + 2, basis)
    return compare_differences(metric, baseline, found, threshold=threshold)


_MOST_ROUNDS = 10_000
_WITHHELD = "control_differs"


def fails(comparison: Comparison, verdict: str, limits: Mapping[str, float]) -> float | None:
    """Return the limit that a verdict lies beyond, or ``None``.

    ``verdict`` is the comparison's own, or of memory its other name. One that is undecided fails
    where a difference of more than its limit cannot be excluded.
    """
    limit = limits.get(verdict)
    if verdict != "undecided" or limit is None:
        return beyond(comparison, limit)
    low, high, confidence = comparison.low, comparison.high, comparison.confidence
    if low is None or high is None or confidence < CONFIDENCE:
        return limit
    excluded = 1 / (1 + limit) <= low and high <= 1 + limit
    return None if excluded and comparison.reason.code != _WITHHELD else limit


def surely_below(comparison: Comparison, limits: Mapping[str, float]) -> float | None:
    """Return the limit of ``slower`` where the whole interval of the ratio lies below it."""
    limit = limits.get("slower")
    known = comparison.confidence >= CONFIDENCE and comparison.reason.code != _WITHHELD
    if limit is None or comparison.high is None or not known:
        return None
    return limit if comparison.high <= 1 + limit else None


def unshown(  # noqa: PLR0913 - a figure, and what it was asked to show
    case: str,
    comparison: Comparison,
    limits: Mapping[str, float],
    n: int,
    *,
    round_s: float | None,
    noise_share: float = 0.0,
) -> UnshownLimit | None:
    """Return the limit that a comparison, which is not beyond it, does not exclude, or ``None``.

    It does where its whole interval lies within the limit; one below the threshold is taken to be
    the threshold. ``n`` rounds, or processes of either side, are behind it; one more takes
    ``round_s``. ``noise_share`` is by how much two equal runs differ, where these are compared: no
    more processes help.
    """
    shares = {name: share for name, share in limits.items() if name != "undecided"}
    if not shares or comparison.reason.code == _WITHHELD:
        return None
    if noise_share > (wanted := min(shares.values())) > 0:
        return UnshownLimit(
            case=case,
            metric=comparison.metric,
            limit=wanted,
            not_excluded=noise_share,
            n_further=0,
            further_s=None,
            null_reasons={"further_s": because("between_runs", noise_share=noise_share)},
        )
    few = n < FEWEST_FOR_CONFIDENCE and comparison.verdict == "undecided"
    limit, end = max(
        (
            (max(share, comparison.threshold), _end(comparison, name))
            for name, share in shares.items()
        ),
        key=lambda one: math.inf if one[1] is None else one[1] - math.log1p(one[0]),
    )
    most = math.log1p(limit)
    if not few and end is not None and end <= most:
        return None
    reach = _reach(comparison)
    further = max(FEWEST_FOR_CONFIDENCE, _rounds_for(reach, n, _wanted(reach, end, most))) - n
    return UnshownLimit(
        case=case,
        metric=comparison.metric,
        limit=limit,
        not_excluded=None if few or end is None else math.expm1(min(end, LARGEST_EXPONENT)),
        n_further=further,
        further_s=None if round_s is None else further * round_s,
        null_reasons=_reasons(n, few=few, timed=round_s is not None),
    )


def _reasons(n: int, *, few: bool, timed: bool) -> dict[str, Any]:
    reasons = {}
    if few:
        needed = FEWEST_FOR_CONFIDENCE
        reasons["not_excluded"] = because("few_processes", n_processes=n, n_needed=needed)
    if not timed:
        reasons["further_s"] = because("not_recorded")
    return reasons


def _reach(comparison: Comparison) -> float | None:
    """Return how far the interval reaches from its middle, as a logarithm."""
    if comparison.low is None or comparison.high is None:
        return None
    return (math.log(comparison.high) - math.log(comparison.low)) / 2


def _end(comparison: Comparison, verdict: str) -> float | None:
    """Return the logarithm of the largest difference that is not excluded, as a verdict says."""
    if comparison.low is None or comparison.high is None:
        return None
    return math.log(comparison.high) if verdict in {"slower", "more"} else -math.log(comparison.low)


def _wanted(reach: float | None, end: float | None, limit: float) -> float:
    """Return how far an interval may reach that shows a limit, all as logarithms.

    Of what is equal it may reach to the limit; around another middle, as far as that is from it.
    """
    if reach is None or end is None or reach > limit:
        return limit
    return abs(limit - (end - reach)) or limit


def _rounds_for(reach: float | None, n: int, wanted: float) -> int:
    """Return the rounds after which the interval is expected to reach no further than wanted."""
    if reach is None or n < FEWEST_FOR_INTERVAL:
        return FEWEST_FOR_CONFIDENCE
    few = n < FEWEST_FOR_CONFIDENCE  # of few, the bounds are the range
    expected = intervals.expected_half_width if few else intervals.expected_of_pairs
    now = expected(n, CONFIDENCE)
    scatter = reach / now
    return next(
        (
            k
            for k in range(n + 1, _MOST_ROUNDS)
            if scatter * intervals.expected_of_pairs(k, CONFIDENCE) <= wanted
        ),
        _MOST_ROUNDS,
    )


def judge_counts(
    case: str, reference: Counts, counts: Counts, limits: Mapping[str, CountLimit]
) -> list[CountVerdict]:
    """Hold the counts of a case against those of a reference; guarded ones are always there."""
    known = {*reference.numbers, *counts.numbers, *limits}
    return [
        _judged(case, name, reference, counts, limits.get(name))
        for name in COUNT_NAMES
        if name in known
    ]


def _judged(
    case: str, name: str, reference: Counts, counts: Counts, limit: CountLimit | None
) -> CountVerdict:
    before, now = reference.numbers.get(name), counts.numbers.get(name)
    verdict: Literal["more", "less", "same", "undecided"] = "undecided"
    reason = fails_beyond = None
    if before is None or now is None:
        told = [one.null_reasons.get(name) for one in (counts, reference)]
        reason = next((why for why in told if why is not None), because("not_counted"))
    else:
        verdict = "same" if now == before else "more" if now > before else "less"
        if limit is not None and now > limit.allowed(before):
            fails_beyond = limit.allowed(before)
    return CountVerdict(
        case=case,
        name=name,
        reference=before,
        count=now,
        verdict=verdict,
        reason=reason,
        guarded=limit is not None,
        fails_beyond=fails_beyond,
    )


def unheard(limits: Mapping[str, CountLimit], verdicts: Sequence[CountVerdict]) -> list[str]:
    """Return the guarded names that nothing has counted, which a build would guard in vain."""
    counted = {one.name for one in verdicts if one.reference is not None or one.count is not None}
    return [name for name in limits if name not in counted]
