"""A distribution in few numbers, and how precise its median is.

No percentile is given from fewer values than it needs. From the scatter so far follows how many
more processes the precision asked for is expected to need.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from coldwarm.contracts.answer import Summary
from coldwarm.contracts.reasons import because
from coldwarm.stats.intervals import (
    CONFIDENCE,
    FEWEST_FOR_CONFIDENCE,
    FEWEST_FOR_INTERVAL,
    by_range,
    centre,
    group_medians,
    median_interval,
    paired,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.reasons import Reason


_P95 = 0.95


def _values_needed(q: float) -> int:
    """Return how many values the quantile ``q`` (0..1) needs: one beyond it on average.

    Twenty for the 95th and for the 5th percentile, a hundred for the 99th, two for the median.
    """
    # Rounded first, since 1 / (1 - 0.95) is a little more than twenty in binary.
    return math.ceil(round(1 / min(q, 1 - q), 6))


def _quantile(values: Sequence[float], q: float) -> tuple[float | None, Reason | None]:
    """Return a quantile (0 < q < 1, linear between values), or ``None`` and the reason why."""
    needed = _values_needed(q)
    if len(values) < needed:
        return None, because("few_values", n_values=len(values), n_needed=needed)
    return float(np.quantile(np.asarray(values, dtype=np.float64), q)), None


def summary(groups: Sequence[Sequence[float]]) -> Summary:
    """Summarise the samples of one process or more, in the unit they have.

    The median is that of the processes' medians. Minimum, maximum and the 95th percentile
    are taken over all samples together.

    Raises:
        ValueError: there is no group, or an empty one.
    """
    interval = median_interval(group_medians(groups).tolist())
    samples = list(chain.from_iterable(groups))
    p95, p95_reason = _quantile(samples, _P95)
    reasons = {"p95": p95_reason} if p95_reason else {}
    if interval.reason:
        reasons |= {"low": interval.reason, "high": interval.reason}
    return Summary(
        n_processes=len(groups),
        n_samples=len(samples),
        median=centre(groups),
        minimum=float(min(samples)),
        maximum=float(max(samples)),
        low=interval.low,
        high=interval.high,
        confidence=interval.confidence,
        p95=p95,
        null_reasons=reasons,
    )


MEDIAN_ERROR = 1.2533
"""Standard error of a median over that of a mean, for normal values."""
_BY_ORDER = 30
"""Numbers up to which bounds are expected at their places in the order; beyond, as of a mean."""


@dataclass(frozen=True)
class _Precision:
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


def assess(values: Sequence[float], *, target: float, fewest: int, most: int) -> _Precision:
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
        return _Precision(reached, met=False, more=fewest - n)
    if reached is not None and reached <= target:
        return _Precision(reached, met=True, more=0)
    if n >= most:
        return _Precision(reached, met=False, more=0)
    enough = _processes_needed(values, target, most)
    return _Precision(reached, met=False, more=max(1, enough - n))


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
