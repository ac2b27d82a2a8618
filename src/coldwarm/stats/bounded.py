"""A figure of a few processes with its bounds, and how the figures of two sides differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.stats.bootstrap import (
    FEWEST_FOR_INTERVAL,
    RESAMPLES,
    apart,
    by_range,
    common_rounds,
    extended_range,
    median_interval,
    tails,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Series = Mapping[str, float]


@dataclass(frozen=True)
class Bounded:
    """A figure in seconds; ``low`` and ``high`` are ``None`` where there are too few processes."""

    middle: float
    low: float | None
    high: float | None


def median(series: Series) -> float:
    """Return the median of one process or more."""
    return median_of(list(series.values()))


def estimate(series: Series, confidence: float) -> Bounded:
    """Return the median of one process or more, and its interval from two on."""
    interval = median_interval([[value] for value in series.values()], confidence=confidence)
    return Bounded(median(series), interval.low, interval.high)


def hull(one: Bounded, other: Bounded) -> Bounded:
    """Return the first figure within the bounds of both; unbounded where one of them is."""
    lows, highs = (one.low, other.low), (one.high, other.high)
    if None in lows or None in highs:
        return Bounded(one.middle, None, None)
    low = min(bound for bound in lows if bound is not None)
    return Bounded(one.middle, low, max(bound for bound in highs if bound is not None))


def difference(ours: Series, theirs: Series, confidence: float) -> Bounded:
    """Return by how much the median of ours exceeds that of theirs, with its interval.

    Processes of the same round ran next to each other: they are paired where enough rounds are
    common (``common_rounds``), and the others are then left out. Exchanging the two sides only
    changes the sign.
    """
    common = common_rounds(ours, theirs)
    first = [ours[key] for key in common or ours]
    second = [theirs[key] for key in common or theirs]
    # Resampling treats one side after the other: a fixed order makes the exchange exact.
    if sorted(first) > sorted(second):
        mirrored = _difference(second, first, confidence, paired=bool(common))
        low, high = mirrored.low, mirrored.high
        return Bounded(
            -mirrored.middle, None if high is None else -high, None if low is None else -low
        )
    return _difference(first, second, confidence, paired=bool(common))


def _difference(
    first: Sequence[float], second: Sequence[float], confidence: float, *, paired: bool
) -> Bounded:
    middle = median_of(first) - median_of(second)
    if min(len(first), len(second)) < FEWEST_FOR_INTERVAL:
        return Bounded(middle, None, None)
    low, high = (_paired if paired else _unpaired)(first, second, confidence)
    return Bounded(middle, min(low, middle), max(high, middle))


def _paired(
    first: Sequence[float], second: Sequence[float], confidence: float
) -> tuple[float, float]:
    ours, theirs = np.asarray(first), np.asarray(second)
    n = len(ours)
    if by_range(n, confidence):
        return extended_range(ours - theirs, confidence)
    picks = np.random.default_rng(0).integers(0, n, size=(RESAMPLES, n))
    drawn = np.median(ours[picks], axis=1) - np.median(theirs[picks], axis=1)
    low, high = np.quantile(drawn, tails(n, confidence))
    return float(low), float(high)


def _unpaired(
    first: Sequence[float], second: Sequence[float], confidence: float
) -> tuple[float, float]:
    ours, theirs = ([[value] for value in side] for side in (first, second))
    return apart(ours, theirs, confidence)


def median_of(values: Sequence[float]) -> float:
    """Return the median of one value or more."""
    return float(np.median(np.asarray(values)))
