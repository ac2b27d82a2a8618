"""Where a process becomes steady, from its raw warm series."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.reasons import Reason

    Floats = NDArray[np.float64]


_PENALTY = 3.0
_MOST_POINTS = 250
"""Longer series are first reduced to medians of neighbours, since the cost grows as n²."""


def _segments(values: Sequence[float]) -> list[tuple[int, int]]:
    """Return the half-open index ranges of constant level, in order, covering all values."""
    series = np.asarray(values, dtype=np.float64)
    points, stride = _condensed(series)
    edges = [edge * stride for edge in _partition(_ranks(points))]
    edges[-1] = len(series)
    return list(pairwise(edges))


def _condensed(series: Floats) -> tuple[Floats, int]:
    """Return at most ``_MOST_POINTS`` medians of neighbours, and how many each stands for."""
    stride = max(1, math.ceil(len(series) / _MOST_POINTS))
    if stride == 1:
        return series, 1
    whole = len(series) // stride * stride
    medians = np.median(series[:whole].reshape(-1, stride), axis=1)
    rest = [np.median(series[whole:])] if whole < len(series) else []
    return np.concatenate([medians, rest]), stride


def _is_slope(values: Sequence[float], pieces: Sequence[tuple[int, int]]) -> bool:
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


_FEWEST_SAMPLES = 20
_SMALLEST_LEVEL = 0.1
_SMALLEST_GAP = 0.03
_MOST_BETWEEN = 0.04


@dataclass(frozen=True)
class TwoLevels:
    """Two levels of one series, in the unit of its values; ``upper_share`` is 0..1."""

    lower: float
    upper: float
    upper_share: float


def _two_levels(values: Sequence[float]) -> TwoLevels | None:
    """Return the two levels of a series, or ``None`` where one level describes it.

    The sorted values are cut where the two parts differ most from each other (Otsu's
    criterion). They count as two levels where each part holds a tenth of the values, the
    medians lie 3 % and twice the quartile range of either apart, and hardly any value lies in
    the middle half between the medians: one skewed mode, as noise makes it, is full there.
    """
    if len(values) < _FEWEST_SAMPLES:
        return None
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    count = np.arange(1, len(ordered))
    low_mean = np.cumsum(ordered)[:-1] / count
    high_mean = (ordered.sum() - np.cumsum(ordered)[:-1]) / (len(ordered) - count)
    # Far outliers would attract the cut: only cuts that leave both parts large are tried.
    allowed = np.minimum(count, len(ordered) - count) >= _SMALLEST_LEVEL * len(ordered)
    between = np.where(allowed, count * (len(ordered) - count) * (high_mean - low_mean) ** 2, -1.0)
    cut = int(np.argmax(between)) + 1
    lower, upper = float(np.median(ordered[:cut])), float(np.median(ordered[cut:]))
    quarter = (upper - lower) / 4
    inside = (ordered > lower + quarter) & (ordered < upper - quarter)
    spread = max(
        float(np.ptp(np.quantile(part, (0.25, 0.75)))) for part in (ordered[:cut], ordered[cut:])
    )
    apart = upper - lower > max(_SMALLEST_GAP * lower, 2 * spread)
    if not apart or inside.mean() > _MOST_BETWEEN:
        return None
    return TwoLevels(lower, upper, 1 - cut / len(ordered))


_TOLERANCE = 0.02
"""Relative difference between two levels that is too small to matter."""
FEWEST_SAMPLES = 5
_SMALLEST_STEADY_SHARE = 0.25
_MOST_BURSTS_SHARE = 0.2
_SHORT_BLOCK = 8
_FAR_OUT = 3.0
"""Quartile ranges above the upper quartile from which a sample is slow (Tukey)."""
_CLEAR_DRIFT = 2.6
"""Standard errors from which a drift is not put down to chance."""
_MAD_TO_SIGMA = 1.4826
_SMALLEST_SHARE = 0.03
"""Least share of a process's seconds beyond a straight line that is worth a warm-up."""
SETTLED, LATEST = 0.05, 0.75
"""Share of that which may still be to come, and share of the samples by which it must be so."""


@dataclass(frozen=True)
class Steadiness:
    """Steadiness of the warm series of one process.

    ``warmup`` counts the samples of the raw series before the steady state; ``reentry`` those
    dropped after it, at the start of later blocks. ``samples`` are the steady ones in order; of
    a process that is not steady, the second half of its series, so that there is a figure to show
    beside the reason. ``levels`` is set where they jump between two levels. ``change`` is what
    the series shows from half-time on, or from where it became steady if that was later, as a
    logarithm of the last level over the first (``_slope``); ``None``: samples are too few.
    """

    steady: bool
    reason: Reason
    warmup: int
    reentry: int
    samples: tuple[float, ...]
    levels: TwoLevels | None = None
    change: float | None = None


def detect(blocks: Sequence[Sequence[float]]) -> Steadiness:
    """Judge one process from the samples of its blocks, in the order in which they ran.

    The unit does not matter.
    """
    return _detect(tuple(map(tuple, blocks)))


@lru_cache(maxsize=2048)  # a run asks again after every round, about the same processes
def _detect(blocks: tuple[tuple[float, ...], ...]) -> Steadiness:
    total = sum(len(block) for block in blocks)
    leads = [_lead(blocks, place) for place in range(len(blocks))]
    where = _positions(blocks, leads)
    series = np.array(list(chain.from_iterable(blocks)), dtype=np.float64)[where]
    if len(series) < FEWEST_SAMPLES:
        reason = because("few_samples", n_samples=total, n_needed=FEWEST_SAMPLES)
        return _unsteady(reason, series, where, total)
    if series.min() <= 0:
        return _unsteady(because("below_clock"), series, where, total)
    pieces = _segments(series.tolist())
    change = _halves(series)
    if abs(change) > _TOLERANCE / 2 and _is_slope(series.tolist(), pieces):
        return _unsteady(because("drifts", change_share=change), series, where, total)
    start = _steady_start(series, pieces)
    if start is None:
        return _unsteady(_motion(series, pieces), series, where, total)
    if (drift := _drift(series[start:])) is not None:
        return _unsteady(drift, series, where, total)
    samples = tuple(series[start:].tolist())
    warmup = int(where[start])
    return Steadiness(
        steady=True,
        reason=_steady_reason(series, start, warmup, total),
        warmup=warmup,
        reentry=total - warmup - len(samples),
        samples=samples,
        levels=_two_levels(samples),
        change=_slope(series[max(start, len(series) // 2) :]),
    )


def steady_places(blocks: Sequence[Sequence[float]]) -> list[int]:
    """Return the positions of ``Steadiness.samples`` among all samples of the blocks."""
    leads = [_lead(blocks, place) for place in range(len(blocks))]
    kept: list[int] = _positions(blocks, leads).tolist()
    return kept[len(kept) - len(detect(blocks).samples) :]


def settles_at(samples: Floats, calls: NDArray[np.int64]) -> int | None:
    """Return after how many samples the cumulated seconds of a process become a straight line.

    ``calls`` is how many each sample holds. The line is that of the later half. A level that lasts
    for a few samples alone is none to ``detect``, however slow they were; here their seconds count.
    0: it is a line from the start. ``None``: it is none yet at three quarters of the samples.
    """
    seconds, number = samples * calls, np.cumsum(calls)
    total_s, half = np.cumsum(seconds), len(seconds) // 2
    if not half:
        return 0
    rate_s = seconds[half:].sum() / np.sum(calls[half:])
    beyond_s = total_s - rate_s * number
    away_s = np.abs(beyond_s - beyond_s[-1])
    if away_s.max() < _SMALLEST_SHARE * total_s[-1]:
        return 0
    settled = int(np.flatnonzero(away_s > SETTLED * away_s.max())[-1]) + 1
    return settled if settled <= LATEST * len(seconds) else None


def _positions(blocks: Sequence[Sequence[float]], leads: Sequence[int]) -> NDArray[np.int64]:
    """Return the raw positions of all samples that are not at the slow start of a block."""
    kept: list[int] = []
    offset = 0
    for block, lead in zip(blocks, leads, strict=True):
        kept.extend(range(offset + lead, offset + len(block)))
        offset += len(block)
    return np.array(kept, dtype=np.int64)


def _lead(blocks: Sequence[Sequence[float]], place: int) -> int:
    """Count the samples at the start of a block that are slower than its own later ones.

    Of a short block the later half says little: the later halves of all blocks are taken. No more
    than half of a block is ever dropped.
    """
    block = blocks[place]
    later = list(block[len(block) // 2 :])
    if len(block) < _SHORT_BLOCK:
        later = [sample for other in blocks for sample in other[len(other) // 2 :]]
    if len(later) < 2:  # noqa: PLR2004 - one sample has no spread
        return 0
    low, middle, high = np.quantile(later, (0.25, 0.5, 0.75))
    fence = max(middle * (1 + _TOLERANCE), high + _FAR_OUT * (high - low))
    limit = len(block) // 2
    return next((i for i, sample in enumerate(block[:limit]) if sample <= fence), limit)


def _steady_start(series: Floats, pieces: Sequence[tuple[int, int]]) -> int | None:
    """Return where the last level begins, or ``None`` where no level holds the last part.

    The last level may be interrupted by, or end in, bursts of slow samples that make up no
    more than a fifth of it.
    """
    levels = [float(np.median(series[start:stop])) for start, stop in pieces]
    width = max(_TOLERANCE, _scatter(series, pieces) / 2)
    short = _MOST_BURSTS_SHARE * _SMALLEST_STEADY_SHARE * len(series)
    last = len(pieces) - 1
    lengths = [stop - start for start, stop in pieces]
    while last > 0 and lengths[last] <= short and levels[last] > levels[last - 1]:
        last -= 1
    begin, held = None, 0
    for place in range(last, -1, -1):
        start, stop = pieces[place]
        if abs(levels[place] / levels[last] - 1) > width:
            continue
        held += stop - start
        if held >= (1 - _MOST_BURSTS_SHARE) * (len(series) - start):
            begin = start
    needed = max(FEWEST_SAMPLES, _SMALLEST_STEADY_SHARE * len(series))
    return None if begin is None or len(series) - begin < needed else begin


def _scatter(series: Floats, pieces: Sequence[tuple[int, int]]) -> float:
    """Return the relative scatter of the samples around the level of their piece."""
    gaps = [abs(series[a:b] / np.median(series[a:b]) - 1) for a, b in pieces]
    return _MAD_TO_SIGMA * float(np.median(np.concatenate(gaps)))


def _drift(series: Floats) -> Reason | None:
    """Say how far a level drifts, or ``None`` where it does not (Mann-Kendall)."""
    points, _ = _condensed(series)
    n = len(points)
    change = _halves(series)
    later = np.triu(np.sign(points[None, :] - points[:, None]), 1).sum()
    error = (n * (n - 1) * (2 * n + 5) / 18) ** 0.5
    if abs(change) <= _TOLERANCE / 2 or abs(later) < _CLEAR_DRIFT * error:
        return None
    return because("drifts", change_share=change)


def _slope(values: Floats) -> float | None:
    """Return the logarithm of the last level over the first, on the line through a series.

    The line is that of the median slope between all pairs (Theil and Sen), which a burst of slow
    samples does not turn. ``None``: there are too few values, or some are not positive.
    """
    if len(values) < FEWEST_SAMPLES or values.min() <= 0:
        return None
    points, _ = _condensed(values)
    logs = np.log(points)
    first, second = np.triu_indices(len(logs), 1)
    return float(np.median((logs[second] - logs[first]) / (second - first)) * (len(logs) - 1))


def _halves(series: Floats) -> float:
    """Return the relative change of the median from the first half to the second."""
    half = len(series) // 2
    return float(np.median(series[half:]) / np.median(series[:half]) - 1)


def _motion(series: Floats, pieces: Sequence[tuple[int, int]]) -> Reason:
    """Say why a series without a last level is not steady."""
    levels = [float(np.median(series[a:b])) for a, b in pieces]
    spread = max(levels) / min(levels) - 1
    return because("level_moves", n_moves=len(levels) - 1, range_share=spread)


def _steady_reason(series: Floats, start: int, warmup: int, total: int) -> Reason:
    """Say from where on the process is steady, and whether it became slower."""
    if start >= FEWEST_SAMPLES:
        change = float(np.median(series[start:]) / np.median(series[:start]) - 1)
        if change > _TOLERANCE:
            slower = {"n_warmup": warmup, "n_samples": total, "slower_share": change}
            return because("steady_slower", **slower)
    return because("steady_after", n_warmup=warmup, n_samples=total)


def _unsteady(reason: Reason, series: Floats, where: NDArray[np.int64], total: int) -> Steadiness:
    """Return a process that is not steady, with the second half of its samples."""
    start = len(series) // 2
    samples = tuple(series[start:].tolist())
    warmup = int(where[start]) if len(series) else total
    return Steadiness(
        steady=False,
        reason=reason,
        warmup=warmup,
        reentry=total - warmup - len(samples),
        samples=samples,
        change=_slope(series[start:]),
    )
