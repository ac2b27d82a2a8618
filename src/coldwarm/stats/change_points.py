"""Changes of a figure over many runs: from which run on it is another. Pure.

A figure is a series of logarithms, one of each run, that scatters around a level. The level is
looked for that fits all of a part of the series; where two levels, one behind the other, fit it
better by more than chance does, the part is divided, and each half looked at in turn (binary
segmentation).

*Scatter.* From differences between neighbours, which a change of level touches in one place only,
and more of it where runs that follow each other are alike; no run counts as surer than its own
interval says.

*Stray runs.* A run that is far from the runs around it is drawn in to three times the scatter, and
a level has two runs or more: one run alone never is a change.

*Modes.* A few runs where others of the level before are, too, are none.

*Drifts.* A part that a straight line fits, and better than two levels do, is left whole.

``benchmarks/change_points.py`` simulates how often that is wrong, and how soon it is told.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coldwarm.stats.intervals import student

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEWEST = 8
"""Runs of a series below which no change is told."""
_SHORTEST, _SHORT = 2, 3
"""Runs of a level, and of one in which each has to agree."""
_FEW = 6
"""Runs of a level that another mode of the same figure may have one after the other."""
_CHANCE = 5e-5
"""How often two levels may look so different where there is one, at a place looked at."""
_DRAWN_IN = 3.0
"""Scatters from the runs around it, beyond which a run is drawn in."""
_AROUND = 7
"""Runs, itself among them, that a run is held against."""
_EFFICIENCY = 2 / 3
"""Degrees of freedom that differences of neighbours have, for each run."""
_LEAST_SCATTER = 1e-4
_USUAL = 1.51
"""Standard deviations in the root mean square of the nearest four fifths."""
_MOST_FAR = 0.2
"""Share of differences that may be far from all others."""
_MOST_ALIKE = 0.4
"""Correlation of runs that follow each other."""
_FITS = 2.0
"""Mean square that is left, in scatters squared, by a line that fits a part."""
_MOST_BEYOND = 0.1
"""Share of the runs of a level that may lie where a short level beside it is."""
_LIKELY = 4.0
"""How much less a place may show a change than the best one, and may still be the place: 95 % of a
chi-squared variable of one degree of freedom are below."""
_CONFIDENCE = 0.95


class Change(NamedTuple):
    """A place at which a series goes to another level."""

    at: int
    """The first run of the new level."""
    earliest: int
    latest: int
    """Places that may be the first run with about 95 %."""
    size: float
    """The new level less the one before, as logarithms."""
    low: float
    high: float
    """Bounds of the size at 95 %."""
    n_before: int
    n_after: int
    """Runs of the two levels."""


class _Series(NamedTuple):
    """What a series is computed with."""

    values: Floats
    """With stray runs drawn in."""
    raw: Floats
    weights: Floats
    freedom: int


def changes(values: Sequence[float], errors: Sequence[float] = ()) -> list[Change]:
    """Return the changes of level of a series, in its order.

    Args:
        values: Logarithms of a figure, one of each run, oldest first.
        errors: Standard errors of these by the runs' own intervals; 0 where there is none.
    """
    n = len(values)
    if n < FEWEST:
        return []
    series = _prepared(np.asarray(values, dtype=np.float64), np.asarray(errors or [0.0] * n))
    places = _divided(series, 0, n)
    bounds = [0, *places, n]
    return [_change(series, *bounds[place : place + 3]) for place in range(len(bounds) - 2)]


def _prepared(values: Floats, errors: Floats) -> _Series:
    n = len(values)
    around = np.pad(values, _AROUND // 2, mode="reflect")
    middle = np.median(np.lib.stride_tricks.sliding_window_view(around, _AROUND), axis=-1)
    scatter = np.maximum(_scatter(values), errors)
    reach = _DRAWN_IN * scatter
    drawn = np.clip(values, middle - reach, middle + reach)
    return _Series(drawn, values, 1 / scatter**2, max(3, round(_EFFICIENCY * (n - 1))))


def _scatter(values: Floats) -> float:
    """Return the standard deviation of runs of one level."""
    near, far = (_variance(values[lag:] - values[:-lag]) for lag in (1, 2))
    if near <= _LEAST_SCATTER**2:
        return _LEAST_SCATTER
    # Runs that follow each other alike are a little apart, and runs two apart are more so.
    alike = min(_MOST_ALIKE, max(0.0, far / near - 1 - 1 / math.sqrt(len(values))))
    return math.sqrt(near / (1 - alike) * (1 + alike) / (1 - alike))


def _variance(steps: Floats) -> float:
    """Return half of the mean square of differences, without those that are far from all others."""
    apart = np.abs(steps - np.median(steps))
    usual = np.sort(apart)[: math.ceil((1 - _MOST_FAR) * len(apart))]
    kept = steps[apart <= _DRAWN_IN * _USUAL * float(np.sqrt(np.mean(usual**2)))]
    return float(np.var(kept) / 2)


def _divided(series: _Series, first: int, end: int) -> list[int]:
    """Return the places at which a part of a series is divided."""
    if end - first < 2 * _SHORTEST:
        return []
    shown = _shown(series, first, end)
    best = int(np.argmax(shown))
    at = first + _SHORTEST + best
    if math.sqrt(shown[best]) < student(1 - _CHANCE / 2, series.freedom):
        return []
    if _is_drift(series, first, at, end) or not _agree(series, first, at, end):
        return []
    return [*_divided(series, first, at), at, *_divided(series, at, end)]


def _shown(series: _Series, first: int, end: int) -> Floats:
    """Return by place how many errors the levels before and behind it are apart, squared."""
    weights, values = series.weights[first:end], series.values[first:end]
    below, total = np.cumsum(weights), np.cumsum(weights * values)
    before, sums = below[_SHORTEST - 1 : -_SHORTEST], total[_SHORTEST - 1 : -_SHORTEST]
    after = below[-1] - before
    gap = sums / before - (total[-1] - sums) / after
    return np.asarray(gap**2 / (1 / before + 1 / after))


def _agree(series: _Series, first: int, at: int, end: int) -> bool:
    """Say whether the runs of a short level are apart from all of the other, and not one of them.

    A figure that has two modes goes to the other one now and then, for a few runs.
    """
    before, after = series.raw[first:at], series.raw[at:end]
    for level, other in ((before, after), (after, before)):
        gap = float(np.median(level) - np.median(other))  # of which one stray run is no part
        half = abs(gap) / 2
        beyond = np.sign(gap) * (other - np.median(other)) > half
        is_apart = bool(np.all(np.sign(gap) * (level - np.median(other)) >= half))
        if len(level) <= _SHORT and not is_apart:
            return False
        if len(level) <= _FEW and np.mean(beyond) > _MOST_BEYOND:
            return False
    return True


def _is_drift(series: _Series, first: int, at: int, end: int) -> bool:
    """Say whether a straight line fits a part, and better than two levels."""
    weights, values = series.weights[first:end], series.values[first:end]
    times = np.arange(end - first, dtype=np.float64)
    line = np.polynomial.Polynomial.fit(times, values, 1, w=np.sqrt(weights))
    left_by_line = float(np.sum(weights * (values - line(times)) ** 2))
    left_by_levels = 0.0
    for part in (slice(first, at), slice(at, end)):
        level = np.average(series.values[part], weights=series.weights[part])
        left_by_levels += float(np.sum(series.weights[part] * (series.values[part] - level) ** 2))
    return left_by_line < min(left_by_levels, _FITS * (end - first))


def _change(series: _Series, first: int, at: int, end: int) -> Change:
    levels, squares = [], 0.0
    for part in (slice(first, at), slice(at, end)):
        # The runs of a short level agree, and were drawn in to the one before it.
        values = series.raw if part.stop - part.start <= _SHORT else series.values
        levels.append(float(np.average(values[part], weights=series.weights[part])))
        squares += 1 / float(np.sum(series.weights[part]))
    shown = _shown(series, first, end)
    likely = np.flatnonzero(shown >= shown[at - first - _SHORTEST] - _LIKELY) + first + _SHORTEST
    size = levels[1] - levels[0]
    half = student(0.5 + _CONFIDENCE / 2, series.freedom) * math.sqrt(squares)
    return Change(
        at=at,
        earliest=int(min(likely.min(), at)),
        latest=int(max(likely.max(), at)),
        size=size,
        low=size - half,
        high=size + half,
        n_before=at - first,
        n_after=end - at,
    )
