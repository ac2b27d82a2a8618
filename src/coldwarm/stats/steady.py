"""Where a process becomes steady, from its raw warm series.

After Barrett et al., "Virtual Machine Warmup Blows Hot and Cold" (2017): the series is cut where
its level changes; levels that differ by less than what matters are one; the process is steady
if one level holds its last part, and everything before belongs to the warm-up. Here the cuts are
found on ranks (``changepoints``), because noise in timings is one-sided, and a short burst of slow
samples inside the last part is noise, not a change.

Samples come in blocks, between which other processes ran. The first samples of a block may
be slow because the processor's caches went cold; they are dropped block by block and counted
as ``reentry``, apart from the warm-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.stats.changepoints import condensed, is_slope, segments
from coldwarm.stats.levels import TwoModes, two_modes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TOLERANCE = 0.02
"""Relative difference between two levels that is too small to matter."""
FEWEST_SAMPLES = 5
SMALLEST_STEADY_SHARE = 0.25
MOST_BURSTS_SHARE = 0.2
SHORT_BLOCK = 8
FAR_OUT = 3.0
"""Quartile ranges above the upper quartile from which a sample is slow (Tukey)."""
CLEAR_DRIFT = 2.6
"""Standard errors from which a drift is not put down to chance."""
MAD_TO_SIGMA = 1.4826


@dataclass(frozen=True)
class Steadiness:
    """What the warm series of one process shows.

    ``warmup`` counts the samples of the raw series before the steady state; ``reentry`` those
    dropped after it, at the start of later blocks. ``samples`` are the steady ones in order; of
    a process that is not steady, the second half of its series, so that there is a figure to show
    beside the reason. ``modes`` is set where they jump between two levels.
    """

    steady: bool
    reason: str
    warmup: int
    reentry: int
    samples: tuple[float, ...]
    modes: TwoModes | None = None


def detect(blocks: Sequence[Sequence[float]], *, tolerance: float = TOLERANCE) -> Steadiness:
    """Judge one process from the samples of its blocks, in the order in which they ran.

    The unit does not matter. ``tolerance`` is the relative difference below which two levels
    count as the same.
    """
    return _detect(tuple(map(tuple, blocks)), tolerance)


@lru_cache(maxsize=512)  # a run asks again after every round, about the same processes
def _detect(blocks: tuple[tuple[float, ...], ...], tolerance: float) -> Steadiness:
    total = sum(len(block) for block in blocks)
    leads = [_lead(blocks, place, tolerance) for place in range(len(blocks))]
    where = _positions(blocks, leads)
    series = np.array(list(chain.from_iterable(blocks)), dtype=np.float64)[where]
    if len(series) < FEWEST_SAMPLES:
        reason = f"cannot be told from {total} samples; {FEWEST_SAMPLES} are needed"
        return _unsteady(reason, series, where, total)
    if series.min() <= 0:
        reason = "cannot be told: a sample of 0 s is below what the clock resolves"
        return _unsteady(reason, series, where, total)
    pieces = segments(series.tolist())
    change = _halves(series)
    if abs(change) > tolerance / 2 and is_slope(series.tolist(), pieces):
        return _unsteady(f"not steady: {_trend(change)}", series, where, total)
    start = _steady_start(series, pieces, tolerance)
    fault = _motion(series, pieces) if start is None else _drift(series[start:], tolerance)
    if start is None or fault is not None:
        return _unsteady(f"not steady: {fault}", series, where, total)
    samples = tuple(series[start:].tolist())
    warmup = int(where[start])
    return Steadiness(
        steady=True,
        reason=_story(series, start, warmup, total, tolerance),
        warmup=warmup,
        reentry=total - warmup - len(samples),
        samples=samples,
        modes=two_modes(samples),
    )


def _positions(blocks: Sequence[Sequence[float]], leads: Sequence[int]) -> NDArray[np.int64]:
    """Return the raw positions of all samples that are not at the slow start of a block."""
    kept: list[int] = []
    offset = 0
    for block, lead in zip(blocks, leads, strict=True):
        kept.extend(range(offset + lead, offset + len(block)))
        offset += len(block)
    return np.array(kept, dtype=np.int64)


def _lead(blocks: Sequence[Sequence[float]], place: int, tolerance: float) -> int:
    """Count the samples at the start of a block that are slower than its own later ones.

    Of a short block the later half says little: the later halves of all blocks are taken. No more
    than half of a block is ever dropped.
    """
    block = blocks[place]
    later = list(block[len(block) // 2 :])
    if len(block) < SHORT_BLOCK:
        later = [sample for other in blocks for sample in other[len(other) // 2 :]]
    if len(later) < 2:  # noqa: PLR2004 - one sample has no spread
        return 0
    low, middle, high = np.quantile(later, (0.25, 0.5, 0.75))
    fence = max(middle * (1 + tolerance), high + FAR_OUT * (high - low))
    limit = len(block) // 2
    return next((i for i, sample in enumerate(block[:limit]) if sample <= fence), limit)


def _steady_start(
    series: Floats, pieces: Sequence[tuple[int, int]], tolerance: float
) -> int | None:
    """Return where the last level begins, or ``None`` where no level holds the last part.

    The last level may be interrupted by, or end in, bursts of slow samples that make up no
    more than a fifth of it.
    """
    levels = [float(np.median(series[start:stop])) for start, stop in pieces]
    width = max(tolerance, _scatter(series, pieces) / 2)
    short = MOST_BURSTS_SHARE * SMALLEST_STEADY_SHARE * len(series)
    last = len(pieces) - 1
    while last > 0 and _length(pieces[last]) <= short and levels[last] > levels[last - 1]:
        last -= 1
    found, held = None, 0
    for place in range(last, -1, -1):
        start, stop = pieces[place]
        if abs(levels[place] / levels[last] - 1) > width:
            continue
        held += stop - start
        if held >= (1 - MOST_BURSTS_SHARE) * (len(series) - start):
            found = start
    needed = max(FEWEST_SAMPLES, SMALLEST_STEADY_SHARE * len(series))
    return None if found is None or len(series) - found < needed else found


def _length(piece: tuple[int, int]) -> int:
    return piece[1] - piece[0]


def _scatter(series: Floats, pieces: Sequence[tuple[int, int]]) -> float:
    """Return the relative scatter of the samples around the level of their piece."""
    gaps = [abs(series[a:b] / np.median(series[a:b]) - 1) for a, b in pieces]
    return MAD_TO_SIGMA * float(np.median(np.concatenate(gaps)))


def _drift(series: Floats, tolerance: float) -> str | None:
    """Say in words how far a level drifts, or ``None`` where it does not (Mann-Kendall)."""
    points, _ = condensed(series)
    n = len(points)
    change = _halves(series)
    later = np.triu(np.sign(points[None, :] - points[:, None]), 1).sum()
    error = (n * (n - 1) * (2 * n + 5) / 18) ** 0.5
    if abs(change) <= tolerance / 2 or abs(later) < CLEAR_DRIFT * error:
        return None
    return _trend(change)


def _halves(series: Floats) -> float:
    """Return the relative change of the median from the first half to the second."""
    half = len(series) // 2
    return float(np.median(series[half:]) / np.median(series[:half]) - 1)


def _trend(change: float) -> str:
    direction = "falling" if change < 0 else "rising"
    return f"still {direction} {abs(change):.1%} between the first and the second half"


def _motion(series: Floats, pieces: Sequence[tuple[int, int]]) -> str:
    """Say in words why a series without a last level is not steady."""
    levels = [float(np.median(series[a:b])) for a, b in pieces]
    spread = max(levels) / min(levels) - 1
    return f"its level moved {len(levels) - 1} times, over a range of {spread:.0%}"


def _story(series: Floats, start: int, warmup: int, total: int, tolerance: float) -> str:
    """Say in words from where on the process is steady, and whether it became slower."""
    if warmup == 0:
        return "steady from the first sample"
    story = f"steady after {warmup} of {total} samples"
    if start < FEWEST_SAMPLES:
        return story
    change = float(np.median(series[start:]) / np.median(series[:start]) - 1)
    return f"{story}, {change:.0%} slower than before" if change > tolerance else story


def _unsteady(reason: str, series: Floats, where: NDArray[np.int64], total: int) -> Steadiness:
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
    )
