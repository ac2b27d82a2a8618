"""Several runs of either side: the run is the unit. Pure.

What changes from run to run (the hour, the state of the file cache, where memory came to lie) is
then in the interval. Runs of one machine scatter alike, so the scatter is taken from both sides
together: Student's t with n_a + n_b - 2 degrees of freedom, on logarithms.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE, Centre, student
from coldwarm.stats.ratio import Differences, compare_differences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.summary import Comparison


def are_unit(n_a: int, n_b: int) -> bool:
    """Say whether there are so many runs that they can be the unit, five of both sides."""
    return n_a + n_b >= FEWEST_FOR_CONFIDENCE


def compare_runs(
    metric: str, baseline: str, ours: Sequence[float], theirs: Sequence[float], *, threshold: float
) -> Comparison:
    """Compare figures of runs, all above 0; five or more on both sides together."""
    sides = [[math.log(value) for value in side] for side in (ours, theirs)]
    means = [statistics.fmean(side) for side in sides]
    squares = math.fsum(
        (value - mean) ** 2 for side, mean in zip(sides, means, strict=True) for value in side
    )
    freedom = len(ours) + len(theirs) - 2
    error = math.sqrt(squares / freedom * (1 / len(ours) + 1 / len(theirs)))
    middle = means[0] - means[1]

    def bounded(confidence: float) -> Centre:
        half = student(0.5 + confidence / 2, freedom) * error
        return Centre(middle, middle - half, middle + half)

    extent = min(sides[0]) - max(sides[1]), max(sides[0]) - min(sides[1])
    basis = because("separate_runs", n_ours=len(ours), n_baseline=len(theirs))
    found = Differences(bounded, extent, freedom + 2, basis)
    return compare_differences(metric, baseline, found, threshold=threshold)
