"""Which of several candidates is the cheapest, by the number of calls of a process. Pure.

At each number of calls every pair of candidates is compared (``dearer``), and a candidate that is
surely dearer than another one drops out: the cheapest is among those that are left. Where one alone
is left, it is the cheapest. That the true one never drops out, at whichever number of calls and in
whichever reading, is to hold with 95 %: each of the k - 1 others could push it out in each of m
readings, so a pair is judged with 1 - 4 % / (k - 1) / m, and one of few rounds more surely yet
(``_FEW``). ``benchmarks/answers.py`` simulates how often that holds.

Below ``FEWEST`` rounds nothing is told: candidates with fewer processes are left out and named.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coldwarm.contracts.answer import ByCalls, CallRange, Crossing
from coldwarm.contracts.reasons import because
from coldwarm.stats.intervals import CONFIDENCE, FEWEST_FOR_CONFIDENCE
from coldwarm.stats.plan.costs import measured_calls
from coldwarm.stats.plan.dearer import MOST_CALLS, NEEDED, dearer
from coldwarm.stats.ratio import FAR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.base import Reading
    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.plan.costs import Costs
    from coldwarm.stats.plan.dearer import Dearer

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Signs = NDArray[np.int8]

_FEW = 3
"""How many times surer a pair must be that has fewer rounds than a verdict needs: with so few,
chance favours one of two nearly equal candidates at some number of calls more often than at each.
What every round puts more than ``FAR`` times apart is told without that."""
_ERROR = 0.8 * (1 - CONFIDENCE)
"""What is given to all pairs together: a little less than is stated, because one draw of costs is
looked at at many numbers of calls."""
FEWEST = 3
"""Rounds from which a candidate can be told to be the cheapest."""
_STEP = 1.2
"""Between numbers of calls at which a change is looked for."""
_BETWEEN = 18
"""Numbers that are tried at once between two that differ."""


class _State(NamedTuple):
    """What is known at a number of calls."""

    among: tuple[str, ...]
    """The candidates that may be the cheapest."""
    estimate: str
    """The one with the lowest cost, as far as scatter lets that be seen."""


def by_calls(known: Sequence[Costs], reading: Reading, n_readings: int = 1) -> ByCalls:
    """Return the ranges of calls in which a candidate is the cheapest, and where nobody can tell.

    ``n_readings``: how many are told at once, whose ranges are to be true together.

    A candidate without the costs of a reading, or with those of too few processes, is left out.
    """
    left_out = {
        one.candidate: fault for one in known if (fault := _fault(one, NEEDED[reading])) is not None
    }
    compared = [one for one in known if one.candidate not in left_out]
    names = [one.candidate for one in compared]
    if len(compared) <= 1:
        return without_ranges(reading, because("no_other_total"), names, left_out)
    pairs = {
        (place, other): dearer(compared[place], compared[other], NEEDED[reading])
        for place in range(len(compared))
        for other in range(place + 1, len(compared))
    }
    error = _ERROR / (len(compared) - 1) / n_readings

    def states(calls: Sequence[float]) -> list[_State]:
        return _states(names, pairs, np.array(calls, dtype=np.float64), error)

    found = list(_changes(states, _tried()))
    return ByCalls(
        reading=reading,
        ranges=_ranges(found),
        estimates=_estimates(found),
        candidates=names,
        left_out=left_out,
        confidence=CONFIDENCE,
        n_rounds=min(one.n for one in pairs.values()),
        measured_calls=measured_calls(compared),
    )


def without_ranges(
    reading: Reading,
    reason: Reason,
    candidates: Sequence[str] = (),
    left_out: Mapping[str, Reason] | None = None,
) -> ByCalls:
    """Return a reading of which nothing can be told, and why."""
    return ByCalls(
        reading=reading,
        ranges=[],
        candidates=list(candidates),
        left_out=dict(left_out or {}),
        confidence=CONFIDENCE,
        reason=reason,
        null_reasons={"n_rounds": reason},
    )


def _fault(one: Costs, needed: tuple[str, str, str]) -> Reason | None:
    missing = one.missing(needed)
    if missing is not None:
        return missing
    n = min(len(one.series[name]) for name in needed)
    if n < FEWEST:
        return because("few_processes", n_processes=n, n_needed=FEWEST)
    return None


def _states(
    names: Sequence[str],
    pairs: Mapping[tuple[int, int], Dearer],
    calls: Floats,
    error: float,
) -> list[_State]:
    """Return what is known at each of these numbers of calls."""
    out = np.zeros((len(names), len(calls)), dtype=bool)
    lost = np.zeros((len(names), len(calls)), dtype=np.int64)
    for (place, other), held in pairs.items():
        middle, sure = _signs(held, calls, error)
        out[place] |= sure > 0
        out[other] |= sure < 0
        lost[place] += middle > 0
        lost[other] += middle < 0
    out[:, out.all(axis=0)] = False  # pairs of other rounds may contradict each other
    best = lost.argmin(axis=0)
    return [
        _State(
            tuple(name for name, gone in zip(names, out[:, at], strict=True) if not gone),
            names[int(best[at])],
        )
        for at in range(len(calls))
    ]


def _signs(held: Dearer, calls: Floats, error: float) -> tuple[Signs, Signs]:
    """Return which of two is the dearer at each number of calls, and which surely is: 1, the first.

    -1 is the other one, and 0: neither.
    """
    few = held.n < FEWEST_FOR_CONFIDENCE
    middle, low, high = held.bounded(calls, 1 - (error / _FEW if few else error))
    least, greatest = held.extent(calls)
    far = math.log(FAR)
    # As verdicts do (``ratio``): few rounds tell what every one of them puts far apart.
    sure = _sides((low > 0) | (few & (least > far)), (high < 0) | (few & (greatest < -far)))
    return _sides(middle > 0, middle < 0), sure if held.n >= FEWEST else np.zeros_like(sure)


def _sides(first: Flags, other: Flags) -> Signs:
    return first.astype(np.int8) - other.astype(np.int8)


@cache
def _tried() -> tuple[float, ...]:
    numbers = [1.0, 2.0]
    while numbers[-1] < MOST_CALLS:
        numbers.append(float(math.ceil(numbers[-1] * _STEP)))
    return tuple(numbers)


def _changes(
    states: Callable[[Sequence[float]], list[_State]], tried: Sequence[float]
) -> Iterator[tuple[int, _State]]:
    """Yield each number of calls from which something else is known, and that; first of 1 call."""
    found = states(tried)
    yield int(tried[0]), found[0]
    for (left, before), (right, after) in pairwise(zip(tried, found, strict=True)):
        if before == after:
            continue
        if right - left == 1:
            yield int(right), after
            continue
        between = sorted({float(int(n)) for n in np.linspace(left, right, _BETWEEN)})
        inner = _changes(states, between)
        next(inner)
        yield from inner


def _ranges(found: Sequence[tuple[int, _State]]) -> list[CallRange]:
    begins = [
        (next(iter(members))[0], among)
        for among, members in groupby(found, key=lambda change: change[1].among)
    ]
    ends = [begin - 1 for begin, _ in begins[1:]]
    return [
        CallRange(
            from_calls=begin,
            to_calls=end,
            cheapest=among[0] if len(among) == 1 else None,
            among=list(among),
        )
        for (begin, among), end in zip(begins, [*ends, None], strict=True)
    ]


def _estimates(found: Sequence[tuple[int, _State]]) -> list[Crossing]:
    return [
        Crossing(value=next(iter(members))[0], cheapest=name)
        for name, members in groupby(found, key=lambda change: change[1].estimate)
    ]
