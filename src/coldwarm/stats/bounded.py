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


def estimate(series: Series, confidence: float) -> Bounded:
    """Return the median of one process or more, and its interval from two on."""
    values = list(series.values())
    if len(values) < FEWEST_FOR_INTERVAL:
        return Bounded(median_of(values), None, None)
    low, high = bounds(values, confidence=confidence)
    return Bounded(median_of(values), max(0.0, low), high)


def widened(total: Bounded, number: float, middle: float, among: Bounded) -> Bounded:
    """Return a total that pays a cost so many times, widened to what that is ``among`` others.

    ``middle`` is the cost in the total. Unbounded where one of the two is.
    """
    if total.low is None or total.high is None or among.low is None or among.high is None:
        return Bounded(total.middle, None, None)
    down = number * max(0.0, middle - among.low)
    up = number * max(0.0, among.high - middle)
    return Bounded(total.middle, total.low - down, total.high + up)


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
