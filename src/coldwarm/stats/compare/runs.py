"""Several runs of either side: the run is the unit. Pure.

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
from typing import TYPE_CHECKING

from coldwarm.contracts.answer import Comparison
from coldwarm.contracts.reasons import because
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE, Centre, student
from coldwarm.stats.ratio import Differences, compare_differences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.reasons import Reason

_FEWEST_OF_A_SIDE = 2
"""Runs of either side below which there is no verdict."""


def are_unit(n_a: int, n_b: int) -> bool:
    """Say whether there are so many runs that they can be the unit, five of both sides."""
    return n_a + n_b >= FEWEST_FOR_CONFIDENCE


def lone(n_ours: int, n_theirs: int) -> Reason | None:
    """Say why there is no verdict where one side has a single run, or ``None``."""
    if min(n_ours, n_theirs) >= _FEWEST_OF_A_SIDE:
        return None
    basis = because("separate_runs", n_ours=n_ours, n_baseline=n_theirs)
    return because("lone_run", basis, n_needed=_FEWEST_OF_A_SIDE)


def compare_runs(
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

    def bounded(confidence: float) -> Centre:
        half = student(0.5 + confidence / 2, freedom) * error
        return Centre(middle, middle - half, middle + half)

    basis = because("separate_runs", n_ours=len(ours), n_baseline=len(theirs))
    found = Differences(bounded, extent, freedom + 2, basis)
    return compare_differences(metric, baseline, found, threshold=threshold)
