"""Where the level of a series changes.

Optimal partitioning (Jackson et al., 2005) of the *ranks* of the values. Ranks make it blind to
the unit and to how far an outlier lies out: one slow sample in fifty weighs as one rank, however
slow. The cost of a segment is its sum of squares around its mean rank; each change costs
``PENALTY * log(n)`` times the variance that ranks have without any change.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_PENALTY = 3.0
_MOST_POINTS = 250
"""Longer series are first reduced to medians of neighbours, since the cost grows as n²."""


def segments(values: Sequence[float]) -> list[tuple[int, int]]:
    """Return the half-open index ranges of constant level, in order, covering all values."""
    series = np.asarray(values, dtype=np.float64)
    points, stride = condensed(series)
    edges = [edge * stride for edge in _partition(_ranks(points))]
    edges[-1] = len(series)
    return list(pairwise(edges))


def condensed(series: Floats) -> tuple[Floats, int]:
    """Return at most ``_MOST_POINTS`` medians of neighbours, and how many each stands for."""
    stride = max(1, math.ceil(len(series) / _MOST_POINTS))
    if stride == 1:
        return series, 1
    whole = len(series) // stride * stride
    medians = np.median(series[:whole].reshape(-1, stride), axis=1)
    rest = [np.median(series[whole:])] if whole < len(series) else []
    return np.concatenate([medians, rest]), stride


def is_slope(values: Sequence[float], pieces: Sequence[tuple[int, int]]) -> bool:
    """Say whether a straight line describes the ranks better than the constant pieces do.

    A steady trend is cut into a staircase, whose last step must not pass for a level. Both
    descriptions pay the same price: one penalty for each parameter beyond the first.
    """
    if len(pieces) == 1:
        return False
    ranks = _ranks(np.asarray(values, dtype=np.float64))
    time = np.arange(len(ranks)) - (len(ranks) - 1) / 2
    centred = ranks - ranks.mean()
    line = (centred**2).sum() - (time @ centred) ** 2 / (time @ time)
    stairs = sum(((ranks[a:b] - ranks[a:b].mean()) ** 2).sum() for a, b in pieces)
    return bool(line <= stairs + _penalty(ranks) * (len(pieces) - 2))


def _penalty(ranks: Floats) -> float:
    return _PENALTY * math.log(max(len(ranks), 2)) * float(ranks.var())


def _ranks(points: Floats) -> Floats:
    """Return mid-ranks scaled to (0, 1), equal values sharing one rank."""
    _, place, counts = np.unique(points, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    return np.asarray(middle[place] / len(points), dtype=np.float64)


def _partition(ranks: Floats) -> list[int]:
    """Return the edges, from 0 to n, of the partition of least cost."""
    n = len(ranks)
    penalty = _penalty(ranks)
    total = np.concatenate(([0.0], np.cumsum(ranks)))
    squares = np.concatenate(([0.0], np.cumsum(ranks**2)))
    best = np.full(n + 1, -penalty)
    previous = np.zeros(n + 1, dtype=np.int64)
    for stop in range(1, n + 1):
        lengths = stop - np.arange(stop)
        spread = squares[stop] - squares[:stop] - (total[stop] - total[:stop]) ** 2 / lengths
        costs = best[:stop] + spread + penalty
        previous[stop] = np.argmin(costs)
        best[stop] = costs[previous[stop]]
    edges = [n]
    while edges[-1] > 0:
        edges.append(int(previous[edges[-1]]))
    return edges[::-1]
