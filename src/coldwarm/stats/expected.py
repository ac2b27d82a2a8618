"""Sums of costs: what they are expected to be, where a single one will lie, how two differ. Pure.

A sum takes each of its costs so many times. What a round's processes spent is added up by round,
so that whatever the costs of a round have in common is in its sum. The *expected* sum is the mean
of the rounds' sums: means add up and medians do not, and a job pays for its slow processes too.

The mean is bounded by Student's t. Few processes may have met none of the bursts that
later ones will pay for: among n processes that were all spared, up to a share of 1 - 0.05^(1/n) of
later ones may be struck (95 %). Upwards the interval is therefore extended by what it costs if such
a share takes two ranges of the sums more, and so is the range of a single process. How much
that holds is simulated in ``benchmarks/coverage.py``.

*One process* lies, from 39 rounds on, between two of the sums in their order. Below it is the
prediction of Student's t on logarithms, joined with what was seen.

Where too few rounds have all costs, each cost is bounded by itself, with 1 - 5 %/k for k of them,
and the bounds are added.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.stats.intervals import (
    CONFIDENCE,
    FEWEST_FOR_CONFIDENCE,
    FEWEST_FOR_INTERVAL,
    Interval,
    joined,
    student,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Series = Mapping[str, float]
    Term = tuple[float, Series]
    """How many times a cost is paid, and its seconds by round."""


_RANGES_UNSEEN = 2.0
"""Extra cost, in ranges, of a process that was struck while none of those measured was."""
FEWEST_BY_ORDER = math.ceil(2 / (1 - CONFIDENCE)) - 1
"""Values from which a further one lies between the least and the largest often enough."""


def whole_rounds(terms: Sequence[Term], *further: Sequence[Term]) -> list[str]:
    """Return the rounds that have every cost; none where these are too few to stand for all.

    They must be two, and half of the rounds of the cost that has fewest.
    """
    series = [one for _, one in [*terms, *(term for more in further for term in more)]]
    whole = [key for key in series[0] if all(key in one for one in series[1:])]
    fewest = max(FEWEST_FOR_INTERVAL, min(map(len, series)) / 2)
    return whole if len(whole) >= fewest else []


def left_out(terms: Sequence[Term], *further: Sequence[Term]) -> int:
    """Return how many rounds have some of the costs, and not all."""
    series = [one for _, one in [*terms, *(term for more in further for term in more)]]
    every = {key for one in series for key in one}
    return sum(any(key not in one for one in series) for key in every)


def _sums(terms: Sequence[Term], rounds: Sequence[str]) -> list[float]:
    """Return the sum of each of these rounds, in seconds."""
    return [math.fsum(number * series[key] for number, series in terms) for key in rounds]


def middle_s(terms: Sequence[Term]) -> float:
    """Return the expected sum of one process or more of each cost, in seconds."""
    if rounds := whole_rounds(terms):
        return _mean(_sums(terms, rounds))
    return math.fsum(number * _mean(list(series.values())) for number, series in terms)


def expected(
    terms: Sequence[Term], confidence: float = CONFIDENCE, ranges: float = _RANGES_UNSEEN
) -> Interval:
    """Return the expected sum with its interval, which allows for bursts that nobody met.

    ``ranges``: what a process that was struck costs more.
    """
    if rounds := whole_rounds(terms):
        return _mean_interval(_sums(terms, rounds), confidence, ranges).not_negative
    if min(len(series) for _, series in terms) < FEWEST_FOR_INTERVAL:
        return Interval(middle_s(terms), -math.inf, math.inf)
    each = 1 - (1 - confidence) / len(terms)
    found = [
        _mean_interval([number * value for value in series.values()], each, ranges)
        for number, series in terms
    ]
    low, high = sum(one.low for one in found), sum(one.high for one in found)
    return Interval(middle_s(terms), low, high).not_negative


def seen(terms: Sequence[Term]) -> Interval | None:
    """Return the expected sum between the least and the largest that were seen; of few rounds only.

    ``None``: there are enough for an interval.
    """
    rounds = whole_rounds(terms)
    n = len(rounds) if rounds else min(len(series) for _, series in terms)
    if not FEWEST_FOR_INTERVAL <= n < FEWEST_FOR_CONFIDENCE:
        return None
    if rounds:
        sums = _sums(terms, rounds)
        return Interval(_mean(sums), min(sums), max(sums))
    ends = [sorted((n * min(one.values()), n * max(one.values()))) for n, one in terms]
    return Interval(middle_s(terms), sum(low for low, _ in ends), sum(high for _, high in ends))


def _mean_interval(values: Sequence[float], confidence: float, ranges: float = 0.0) -> Interval:
    """Return the mean of two values or more with its interval by Student's t.

    ``ranges``: what a further process that was struck takes more, in ranges of the values; the
    interval is extended upwards by what the share of such processes may be.
    """
    found = np.asarray(values, dtype=np.float64)
    half = student(0.5 + confidence / 2, len(found) - 1) * _deviation(found) / math.sqrt(len(found))
    mean = _mean(values)
    return Interval(mean, mean - half, mean + half + _unseen(values, ranges))


def _unseen(values: Sequence[float], ranges: float) -> float:
    return _unseen_share(len(values)) * ranges * (max(values) - min(values))


def _unseen_share(n: int) -> float:
    """Return the largest share of processes that are struck while ``n`` of them were spared."""
    share: float = 1 - (1 - CONFIDENCE) ** (1 / n)
    return share


def one_process(terms: Sequence[Term]) -> tuple[float, float] | None:
    """Return where the sum of a further process will lie; ``None``: too few rounds have it all."""
    rounds = whole_rounds(terms)
    return _further_value(_sums(terms, rounds)) if rounds else None


def _further_value(values: Sequence[float]) -> tuple[float, float]:
    """Return where a further value will lie, from two or more that are above 0."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if n >= FEWEST_BY_ORDER:
        place = (n + 1) * (1 - CONFIDENCE) / 2 - 1
        low, high = np.interp([place, n - 1 - place], np.arange(n), ordered)
        return float(low), float(high)
    logs = np.log(np.maximum(ordered, np.finfo(np.float64).tiny))
    half = student(0.5 + CONFIDENCE / 2, n - 1) * _deviation(logs) * math.sqrt(1 + 1 / n)
    low, high = np.exp(float(logs.mean()) + np.array([-half, half]))
    most = float(ordered[-1]) + _unseen(values, _RANGES_UNSEEN)
    return min(float(low), float(ordered[0])), max(float(high), most)


def margin(
    ours: Sequence[Term], theirs: Sequence[Term], confidence: float = CONFIDENCE
) -> Interval:
    """Return by how much our expected sum exceeds theirs.

    From the differences of rounds that have all costs of both sides; else from the two sides.
    """
    if rounds := whole_rounds(ours, theirs):
        pairs = zip(_sums(ours, rounds), _sums(theirs, rounds), strict=True)
        return _mean_interval([mine - other for mine, other in pairs], confidence)
    return joined(*(expected(side, confidence, 0.0) for side in (ours, theirs)))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _deviation(values: Floats) -> float:
    return float(values.std(ddof=1))
