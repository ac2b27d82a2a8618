"""A distribution in few numbers, and no percentile from fewer values than it needs."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.contracts.answer import Summary
from coldwarm.contracts.reasons import because
from coldwarm.stats.intervals import centre, group_medians, median_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.reasons import Reason

_P95 = 0.95


def values_needed(q: float) -> int:
    """Return how many values the quantile ``q`` (0..1) needs: one beyond it on average.

    Twenty for the 95th and for the 5th percentile, a hundred for the 99th, two for the median.
    """
    # Rounded first, since 1 / (1 - 0.95) is a little more than twenty in binary.
    return math.ceil(round(1 / min(q, 1 - q), 6))


def quantile(values: Sequence[float], q: float) -> tuple[float | None, Reason | None]:
    """Return a quantile (0 < q < 1, linear between values), or ``None`` and the reason why."""
    needed = values_needed(q)
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
    p95, p95_reason = quantile(samples, _P95)
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
