"""Whether a series keeps to one level or jumps between two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

_FEWEST_SAMPLES = 20
_SMALLEST_SHARE = 0.1
_SMALLEST_GAP = 0.03
_MOST_BETWEEN = 0.04


@dataclass(frozen=True)
class TwoLevels:
    """Two levels of one series, in the unit of its values; ``upper_share`` is 0..1."""

    lower: float
    upper: float
    upper_share: float


def two_levels(values: Sequence[float]) -> TwoLevels | None:
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
    allowed = np.minimum(count, len(ordered) - count) >= _SMALLEST_SHARE * len(ordered)
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
