"""How precise a median is by now, and how many more processes the precision asked for needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from coldwarm.stats.intervals import (
    CONFIDENCE,
    FEWEST_FOR_CONFIDENCE,
    FEWEST_FOR_INTERVAL,
    by_range,
    median_interval,
    paired,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.answer import Summary

MEDIAN_ERROR = 1.2533
"""Standard error of a median over that of a mean, for normal values."""
_BY_ORDER = 30
"""Numbers up to which bounds are expected at their places in the order; beyond, as of a mean."""


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
    """Return the relative half-width of an interval; ``None``: too few have only a range."""
    few = summary.n_processes < FEWEST_FOR_CONFIDENCE
    if few or summary.low is None or summary.high is None or summary.median == 0:
        return None
    return (summary.high - summary.low) / (2 * summary.median)


def assess(values: Sequence[float], *, target: float, fewest: int, most: int) -> Precision:
    """Judge the figures so far, one of each process, in seconds or any other unit.

    ``target`` is the relative half-width asked for; ``fewest`` and ``most`` bound the processes.
    The number that is needed is an expectation from the scatter so far, to plan with; whether
    the precision is met is always judged from the interval itself.
    """
    n = len(values)
    middle = float(np.median(values)) if n else 0.0
    reached = None
    if n >= FEWEST_FOR_CONFIDENCE and middle > 0:
        interval = median_interval(values)
        if interval.low is not None and interval.high is not None:
            reached = (interval.high - interval.low) / (2 * middle)
    if n < fewest:
        return Precision(reached, met=False, more=fewest - n)
    if reached is not None and reached <= target:
        return Precision(reached, met=True, more=0)
    if n >= most:
        return Precision(reached, met=False, more=0)
    enough = _processes_needed(values, target, most)
    return Precision(reached, met=False, more=max(1, enough - n))


def _processes_needed(values: Sequence[float], target: float, most: int) -> int:
    """Return the smallest number expected to reach the target, at most ``most``."""
    if len(values) < FEWEST_FOR_INTERVAL:
        return min(FEWEST_FOR_CONFIDENCE, most)
    scatter = float(np.std(values, ddof=1) / np.median(values))
    numbers = range(max(len(values) + 1, FEWEST_FOR_CONFIDENCE), most)
    return next((n for n in numbers if expected_half_width(n) * scatter <= target), most)


def expected_half_width(n: int, confidence: float = CONFIDENCE) -> float:
    """Return the half-width to expect of a median of n >= 2 processes, in standard deviations.

    Where the range is not as sure as that, it is the range's.
    """
    return _scores(n)[-1] if by_range(n, confidence) else expected_of_pairs(n, confidence)


@cache
def expected_of_pairs(n: int, confidence: float) -> float:
    """Return that of the median of n >= 2 rounds of pairs, in their standard deviations."""
    if n > _BY_ORDER and not by_range(n, confidence):
        return MEDIAN_ERROR * float(ndtri(0.5 + confidence / 2)) / math.sqrt(n)
    return paired(_scores(n), confidence).high


def _scores(n: int) -> list[float]:
    """Return where n normal values are expected in their order (Blom, 1958)."""
    return [float(one) for one in ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))]
