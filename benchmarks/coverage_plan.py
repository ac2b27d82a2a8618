"""The rows of ``coverage`` for what a plan says: break-even, totals, the range of one process.

Each candidate's rounds have a start and a mean warm call, with noise of their own; where two are
compared, everything in a round is besides slowed down alike. The truth: the number of calls at
which the costs without noise meet, the mean of many processes, and a further process.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from coldwarm.stats.breakeven import break_even
from coldwarm.stats.costs import WARM_CALL, Costs
from coldwarm.stats.expected import expected, margin, one_process

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]
START_S, CALL_S = {"ours": 1.0, "theirs": 0.1}, {"ours": 0.01, "theirs": 0.02}
MEETING = 91
"""0.9 s that ours starts later, made up by 0.01 s with each call after the first."""
COMMON = 0.2
"""Deviation of what slows down everything in a round."""
MANY = 200_000


def _side(draw: Draw, rng: np.random.Generator, name: str, common: Floats) -> Costs:
    n = len(common)
    start, warm = (common * draw(rng, n) * s for s in (START_S[name], CALL_S[name]))
    series = {"empty.first": start, "empty.two": start + warm, WARM_CALL: warm}
    by_round = {
        key: dict(zip(map(str, range(n)), v.tolist(), strict=True)) for key, v in series.items()
    }
    return Costs(name, name, name == "theirs", compiles=False, series=by_round)


def meeting(draw: Draw, n: int, trials: int) -> float:
    """Return the share of trials in which the interval of the break-even holds it."""
    rng, hits = np.random.default_rng([n, trials, 3]), 0
    for _ in range(trials):
        common = np.exp(COMMON * rng.standard_normal(n))
        ours, theirs = (_side(draw, rng, name, common) for name in START_S)
        found = break_even(ours, theirs, "process")
        hits += (found.low or 1) <= MEETING <= (found.high or math.inf)
    return hits / trials


def _process(draw: Draw, rng: np.random.Generator, n: int) -> list[tuple[float, dict[str, float]]]:
    """Return the start and the calls of processes that pay as much for the one as the other."""
    parts = [{str(k): v for k, v in enumerate(draw(rng, n).tolist())} for _ in range(2)]
    return [(1.0, parts[0]), (1.0, parts[1])]


@cache
def _mean(draw: Draw, n: int) -> float:
    rng = np.random.default_rng(98)
    return 2 * float(np.mean([draw(rng, n).mean() for _ in range(MANY // n)]))


def totals(draw: Draw, n: int, trials: int) -> float:
    """Return the share in which the interval of a total holds the mean."""
    rng, hits, truth = np.random.default_rng([n, trials, 4]), 0, _mean(draw, n)
    for _ in range(trials):
        found = expected(_process(draw, rng, n))
        hits += found.low <= truth <= found.high
    return hits / trials


def margins(draw: Draw, n: int, trials: int) -> float:
    """Return the share in which the interval of the difference of two totals holds the truth."""
    rng, hits, mean = np.random.default_rng([n, trials, 5]), 0, _mean(draw, n)
    for _ in range(trials):
        common = np.exp(COMMON * rng.standard_normal(n))
        truth = mean / 2 * math.exp(COMMON**2 / 2) * (2.0 - 1.5)
        ours, theirs = ([_slowed(t, common) for t in _process(draw, rng, n)] for _ in range(2))
        found = margin(ours, [(0.75 * number, series) for number, series in theirs])
        hits += found.low <= truth <= found.high
    return hits / trials


def _slowed(term: tuple[float, dict[str, float]], common: Floats) -> tuple[float, dict[str, float]]:
    number, series = term
    return number, {key: value * float(common[int(key)]) for key, value in series.items()}


def processes(draw: Draw, n: int, trials: int) -> float:
    """Return the share in which a further process lies in its range."""
    rng, hits = np.random.default_rng([n, trials, 6]), 0
    for _ in range(trials):
        low, high = one_process(_process(draw, rng, n)) or (0.0, 0.0)
        place = str(rng.integers(n))
        further = sum(series[place] for _, series in _process(draw, rng, n))
        hits += low <= further <= high
    return hits / trials
