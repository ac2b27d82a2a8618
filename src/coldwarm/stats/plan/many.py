"""Sums of costs (``expected``) for many jobs at once; the same figures, computed together. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.stats.intervals import CONFIDENCE, student
from coldwarm.stats.plan.expected import RANGES_UNSEEN, expected, margin, unseen_share, whole_rounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from coldwarm.stats.plan.expected import Term

    Floats = NDArray[np.float64]
    Terms = Sequence[Term]


@dataclass(frozen=True)
class Bounds:
    """Expected sums and their bounds, one for each job; unbounded where one of them is."""

    middle: list[float]
    low: list[float]
    high: list[float]
    bounded: bool


def expected_of(jobs: Sequence[Terms]) -> Bounds:
    """Return what ``expected`` says of each job."""
    middle, low, high = (np.full(len(jobs), math.nan) for _ in range(3))
    for places in _alike(jobs):
        first = jobs[places[0]]
        if rounds := whole_rounds(first):
            sums = _numbers([jobs[at] for at in places]) @ _costs(first, rounds)
            middle[places], low[places], high[places] = _interval(sums, RANGES_UNSEEN)
            low[places] = np.maximum(low[places], 0.0)
            continue
        for at in places:
            found = expected(jobs[at])
            middle[at] = found.middle
            if found.low is not None and found.high is not None:
                low[at], high[at] = found.low, found.high
    bounded = not bool(np.isnan(low).any())
    return Bounds(middle.tolist(), low.tolist(), high.tolist(), bounded)


def margin_lows(pairs: Sequence[tuple[Terms, Terms]]) -> list[float | None]:
    """Return the least by which each first sum exceeds the second, as ``margin`` bounds it."""
    joined = [[*ours, *((-number, series) for number, series in theirs)] for ours, theirs in pairs]
    lows: list[float | None] = [None] * len(pairs)
    for places in _alike(joined):
        ours, theirs = pairs[places[0]]
        if rounds := whole_rounds(ours, theirs):
            sums = _numbers([joined[at] for at in places]) @ _costs(joined[places[0]], rounds)
            _, low, _ = _interval(sums, 0.0)
            for at, value in zip(places, low.tolist(), strict=True):
                lows[at] = value
            continue
        for at in places:
            lows[at] = margin(*pairs[at]).low
    return lows


def _alike(jobs: Sequence[Terms]) -> Iterator[list[int]]:
    """Yield the places of jobs that pay the same costs."""
    found: dict[tuple[int, ...], list[int]] = {}
    for at, terms in enumerate(jobs):
        found.setdefault(tuple(id(series) for _, series in terms), []).append(at)
    yield from found.values()


def _numbers(jobs: Sequence[Terms]) -> Floats:
    return np.array([[number for number, _ in terms] for terms in jobs], dtype=np.float64)


def _costs(terms: Terms, rounds: Sequence[str]) -> Floats:
    return np.array([[series[key] for key in rounds] for _, series in terms], dtype=np.float64)


def _interval(sums: Floats, ranges: float) -> tuple[Floats, Floats, Floats]:
    """Return the mean of each row with its interval, as ``mean_interval`` does of one."""
    n = sums.shape[1]
    mean = sums.mean(axis=1)
    half = student(0.5 + CONFIDENCE / 2, n - 1) * sums.std(axis=1, ddof=1) / math.sqrt(n)
    beyond = unseen_share(n) * ranges * (sums.max(axis=1) - sums.min(axis=1))
    return mean, mean - half, mean + half + beyond
