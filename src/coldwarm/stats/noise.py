"""Differences that can be detected on a machine, from a program that was measured against itself.

Both sides of such a pair are equal, so all that their ratio shows is noise. Its interval from n
pairs is narrower or wider as the number of pairs is larger or smaller; by how much is known for
pairs whose noise is independent of each other (see ``distribution``). So the interval that was
found is scaled to the pairs that fit into another time.

How good that is, simulated against the mean width of the interval that many pairs really give:
for noise that is normal, heavy-tailed or one-sided, the estimate is right in the middle; in 9 of
10 cases it is within a third from 20 pairs, and within a factor of two from 8. Where bursts
make single processes slower by a lot, 8 pairs give an interval many times too wide for 100 pairs,
never one that promises too much by more than a third. A time longer than the one measured may
hold noise that was not met; so it is stated where pairs are extrapolated.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.contracts.bench import NoiseFigure, NoiseHorizon, NoiseReport
from coldwarm.contracts.reasons import because
from coldwarm.stats.common_start import starts_alike
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE, MEDIAN_ERROR, expected_of_pairs
from coldwarm.stats.ratio import CONFIDENCE
from coldwarm.stats.selection import counted, warm_processes
from coldwarm.stats.summarise import compare_case
from coldwarm.stats.summarise import figure as case_figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, SuiteResult


_HORIZONS_S = (10.0, 60.0, 600.0)
_ONE_IN_TWENTY = 1.645
"""Standard errors that a normal value is below in 19 of 20 cases."""
PARTS, ROUNDS_OF_A_PART = 4, 2
"""How many runs a report is taken for, to see how much equal runs differ; and their rounds."""
_LARGEST = 700.0


@dataclass(frozen=True)
class EqualSides:
    """One bench of two equal sides: what it left, and how long all of it took."""

    suite: SuiteResult
    cases: Sequence[CaseResult]
    total_s: float


@dataclass(frozen=True)
class _BenchTime:
    """Time of a bench of two equal sides."""

    pairs: int
    """Pairs of valid processes, one of each side."""
    measured_s: float
    """In which its processes ran."""
    fixed_s: float
    """Everything else."""
    most: int
    """Pairs that a bench starts at most, however long it may take."""


def report(
    target: str, place: Environment, benches: Sequence[EqualSides], *, threshold: float, most: int
) -> NoiseReport:
    """Judge every metric of every bench; ``most`` pairs are started in any."""
    return NoiseReport(
        target=target,
        cpu=place.cpu.model,
        platform=place.platform,
        cores=place.cpu.usable_cores,
        complete=all(bench.suite.complete for bench in benches),
        wall_s=math.fsum(bench.total_s for bench in benches),
        threshold=threshold,
        confidence=CONFIDENCE,
        figures=[figure for bench in benches for figure in _figures(bench, threshold, most)],
        null_reasons={
            name: place.cpu.null_reasons.get(field, because("unstated"))
            for name, field in (("cpu", "model"), ("cores", "usable_cores"))
            if getattr(place.cpu, field) is None
        },
    )


def _figures(bench: EqualSides, threshold: float, most: int) -> Iterator[NoiseFigure]:
    first, second = bench.cases
    modes = first.protocol.cache_modes
    compared = compare_case(
        first.case,
        first.observations,
        second.observations,
        modes,
        alike=starts_alike(first.protocol.own, second.protocol.own),
        threshold=threshold,
    )
    for one in compared:
        spent = _BenchTime(
            pairs=min(_processes(case, one.metric) for case in bench.cases),
            measured_s=bench.suite.measured_s,
            fixed_s=max(0.0, bench.total_s - bench.suite.measured_s),
            most=most,
        )
        yield replace(figure(one, spent), parts=_parts(one.metric, bench.cases))


def _parts(metric: str, cases: Sequence[CaseResult]) -> list[float]:
    """Return the figure in each part of the rounds, as if each had been a run."""
    rounds: dict[int, list[float]] = {}
    for case in cases:
        for seen, value in _values(metric, case):
            rounds.setdefault(seen.round, []).append(value)
    ordered = [rounds[number] for number in sorted(rounds)]
    each = len(ordered) // PARTS
    if each < ROUNDS_OF_A_PART:
        return []
    starts = [place * len(ordered) // PARTS for place in range(PARTS + 1)]
    return [
        statistics.median(value for values in ordered[first:last] for value in values)
        for first, last in pairwise(starts)
    ]


def _values(metric: str, case: CaseResult) -> Iterator[tuple[Observation, float]]:
    mode, _, name = metric.rpartition(".")
    if mode == "warm":
        for process in warm_processes(case.observations):
            yield process.observation, statistics.median(process.steadiness.samples)
        return
    known = next(one for one in case.protocol.cache_modes if one == mode)
    for seen in counted(case.observations, known):
        value = case_figure(seen, name.removesuffix("_s"))
        if value is not None:
            yield seen, value


def _processes(case: CaseResult, metric: str) -> int:
    """Return the valid processes that a metric of a case is from."""
    mode = metric.rpartition(".")[0]
    if mode == "warm":
        return case.warm.n_processes if case.warm else 0
    return next((one.n_ok for one in case.cold if one.cache_mode == mode), 0)


def figure(
    comparison: Comparison, spent: _BenchTime, horizons_s: Sequence[float] = _HORIZONS_S
) -> NoiseFigure:
    """Return what a metric's comparison of two equal sides says for benches of other lengths."""
    pairs = spent.pairs
    if pairs < FEWEST_FOR_CONFIDENCE or comparison.low is None or comparison.high is None:
        why = because("few_pairs", n_pairs=pairs, n_needed=FEWEST_FOR_CONFIDENCE)
        return NoiseFigure(
            comparison=comparison,
            pairs=pairs,
            fixed_s=spent.fixed_s,
            horizons=[_nothing(seconds, 0, why) for seconds in horizons_s],
            null_reasons={"pair_s": why},
        )
    half = (math.log(comparison.high) - math.log(comparison.low)) / 2
    scatter = half / expected_of_pairs(pairs, CONFIDENCE)
    return NoiseFigure(
        comparison=comparison,
        pairs=pairs,
        pair_s=spent.measured_s / pairs,
        fixed_s=spent.fixed_s,
        horizons=[_horizon(seconds, spent, scatter, comparison) for seconds in horizons_s],
    )


def _horizon(
    seconds: float, spent: _BenchTime, scatter: float, comparison: Comparison
) -> NoiseHorizon:
    pair_s = spent.measured_s / spent.pairs
    fit = max(0, min(spent.most, math.floor((seconds - spent.fixed_s) / pair_s)))
    if fit < FEWEST_FOR_CONFIDENCE:
        why = because("few_pairs_fit", n_pairs=fit, n_needed=FEWEST_FOR_CONFIDENCE)
        return _nothing(seconds, fit, why)
    band = math.log1p(comparison.threshold)
    half = scatter * expected_of_pairs(fit, CONFIDENCE)
    beyond = _ONE_IN_TWENTY * MEDIAN_ERROR * scatter / math.sqrt(fit)
    return NoiseHorizon(
        seconds=seconds,
        pairs=fit,
        half_width=_relative(half),
        detectable=_relative(band + half),
        reliable=_relative(band + half + beyond),
        tells_same=half < band,
        extrapolated=fit / spent.pairs if fit > spent.pairs else None,
    )


def _nothing(seconds: float, pairs: int, why: Reason) -> NoiseHorizon:
    reasons = dict.fromkeys(("half_width", "detectable", "reliable", "tells_same"), why)
    return NoiseHorizon(seconds=seconds, pairs=pairs, null_reasons=reasons)


def _relative(logarithm: float) -> float:
    return math.expm1(min(logarithm, _LARGEST))
