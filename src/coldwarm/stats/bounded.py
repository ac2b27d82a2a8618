"""A figure of a few processes with its bounds, and how the figures of two sides differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.stats.intervals import FEWEST_FOR_INTERVAL, apart, bounds, common_rounds, paired

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
    if len(series) < FEWEST_FOR_INTERVAL:
        return Bounded(median(series), None, None)
    low, high = bounds(list(series.values()), confidence=confidence)
    return Bounded(median(series), max(0.0, low), high)


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
    if common:
        return _of_rounds([ours[key] - theirs[key] for key in common], confidence)
    return _of_sides(list(ours.values()), list(theirs.values()), confidence)


def _of_rounds(differences: Sequence[float], confidence: float) -> Bounded:
    if len(differences) < FEWEST_FOR_INTERVAL:
        return Bounded(median_of(differences), None, None)
    found = paired(differences, confidence)
    return Bounded(found.middle, found.low, found.high)


def _of_sides(ours: Sequence[float], theirs: Sequence[float], confidence: float) -> Bounded:
    if min(len(ours), len(theirs)) < FEWEST_FOR_INTERVAL:
        return Bounded(median_of(ours) - median_of(theirs), None, None)
    found = apart(ours, theirs, confidence)
    return Bounded(found.middle, found.low, found.high)


def median_of(values: Sequence[float]) -> float:
    """Return the median of one value or more."""
    return float(np.median(np.asarray(values)))
