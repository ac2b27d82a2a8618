"""How precise a median is by now, and how many more processes the precision asked for needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.stats.bootstrap import (
    CONFIDENCE,
    FEWEST_FOR_INTERVAL,
    bounds,
    by_range,
    extension,
    group_medians,
    student_quantile,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.summary import Summary

EXPECTED_RANGE = dict(
    enumerate((1.128, 1.693, 2.059, 2.326, 2.534, 2.704, 2.847, 2.970, 3.078), start=2)
)
"""Mean range of n normal values, in standard deviations."""
MEDIAN_ERROR = 1.2533
"""Standard error of a median over that of a mean, for normal values."""


@dataclass(frozen=True)
class Precision:
    """Whether to go on measuring.

    ``reached`` is the relative half-width of the interval of the median (0.02 is 2 %), or
    ``None`` where there is no interval yet; ``more`` how many more processes are expected to
    be needed, 0 where the precision is met or no more are allowed.
    """

    reached: float | None
    met: bool
    more: int


def precision_of(summary: Summary) -> float | None:
    """Return the relative half-width of a summary's interval, or ``None`` without one."""
    if summary.low is None or summary.high is None or summary.median == 0:
        return None
    return (summary.high - summary.low) / (2 * summary.median)


def assess(
    groups: Sequence[Sequence[float]], *, target: float, fewest: int, most: int, seed: int = 0
) -> Precision:
    """Judge the values so far: one group for each process, in seconds or any other unit.

    ``target`` is the relative half-width asked for; ``fewest`` and ``most`` bound the processes.
    The number that is needed is an expectation from the scatter so far, to plan with; whether
    the precision is met is always judged from the interval itself.
    """
    n = len(groups)
    medians = group_medians(groups) if n else np.array([])
    reached = None
    if n >= FEWEST_FOR_INTERVAL and np.median(medians) > 0:
        low, high = bounds(groups, seed=seed)
        reached = (high - max(0.0, low)) / (2 * float(np.median(medians)))
    if n < fewest:
        return Precision(reached, met=False, more=fewest - n)
    if reached is not None and reached <= target:
        return Precision(reached, met=True, more=0)
    if n >= most:
        return Precision(reached, met=False, more=0)
    enough = _processes_needed(medians.tolist(), target, most)
    return Precision(reached, met=False, more=max(1, enough - n))


def _processes_needed(medians: Sequence[float], target: float, most: int) -> int:
    """Return the smallest number expected to reach the target, at most ``most``."""
    if len(medians) < FEWEST_FOR_INTERVAL:
        return min(FEWEST_FOR_INTERVAL, most)
    scatter = float(np.std(medians, ddof=1) / np.median(medians))
    numbers = range(len(medians) + 1, most)
    return next((n for n in numbers if expected_half_width(n) * scatter <= target), most)


def expected_half_width(n: int, confidence: float = CONFIDENCE) -> float:
    """Return the half-width to expect from n >= 2 processes, in their standard deviations."""
    if n in EXPECTED_RANGE and by_range(n, confidence):
        return (0.5 + extension(n, confidence)) * EXPECTED_RANGE[n]
    return MEDIAN_ERROR * student_quantile(0.5 + confidence / 2, n - 1) / math.sqrt(n)
