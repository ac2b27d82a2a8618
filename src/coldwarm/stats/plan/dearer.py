"""By how much a candidate is dearer than another, at numbers of calls of one process. Pure.

N calls cost the way to the first result, a second call, and N - 2 warm calls. The second call
stands for itself because frameworks still do first-time work in it.

Each round has both candidates' costs, so a ratio of their totals at every N. Whatever the machine
does in a round cancels in its ratios, and the centre of their logarithms is bounded
(``intervals.paired``). Where too few rounds have all costs of both sides, the totals are bounded
side by side (``expected.margin``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.contracts.reasons import because
from coldwarm.stats.intervals import paired_rows
from coldwarm.stats.plan.costs import FEWEST, WARM_CALL, Costs
from coldwarm.stats.plan.expected import left_out, margin, whole_rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.base import Reading
    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.plan.expected import Term

    Floats = NDArray[np.float64]
    Needed = tuple[str, str, str]
    Bounds = tuple[Floats, Floats, Floats]
    """Centres, and their lower and upper bounds."""

NEEDED: dict[Reading, tuple[str, str, str]] = {
    "process": ("empty.first", "empty.two", WARM_CALL),
    "imported": ("imported.first", "imported.two", WARM_CALL),
    "cached": ("filled.first", "filled.two", WARM_CALL),
}
"""The costs of a reading: to the first result, to the second, and of a warm call."""
MOST_CALLS = 10**15
"""Larger numbers are not given: nobody makes so many calls."""
IN_THE_END = math.inf
"""As a number of calls: only the last one is looked at."""


@dataclass(frozen=True)
class Dearer:
    """By how much a candidate is dearer, in any unit; 0: it costs the same."""

    bounded: Callable[[Floats, float], Bounds]
    """At numbers of calls, its centre and the bounds of that at a confidence."""
    extent: Callable[[Floats], tuple[Floats, Floats]]
    """At numbers of calls, the least and the greatest log-ratio that was seen."""
    n: int
    """Rounds that both have; where none are common, processes of the side that has fewer."""
    basis: Reason
    """What the bounds are from."""


def dearer(ours: Costs, theirs: Costs, needed: Needed) -> Dearer:
    """Hold the costs of ours against those of theirs; both have all that is needed."""
    sides = [_terms(one, needed) for one in (ours, theirs)]
    first, second = ([term for terms in side.values() for term in terms] for side in sides)
    rounds = whole_rounds(first, second)
    if not rounds:
        n_ours, n_theirs = (min(len(s) for _, s in side) for side in (first, second))
        apart = because("separate_processes", n_processes=n_ours, n_baseline=n_theirs)
        return Dearer(_by_sides(*sides), _extent(*sides), min(n_ours, n_theirs), apart)
    logs = _logs(ours, theirs, needed, rounds)
    return Dearer(
        lambda calls, confidence: paired_rows(logs(calls), confidence),
        lambda calls: (logs(calls).min(axis=1), logs(calls).max(axis=1)),
        len(rounds),
        _basis(len(rounds), left_out(first, second)),
    )


def _basis(n_rounds: int, n_lacking: int) -> Reason:
    common = because("common_rounds", n_rounds=n_rounds)
    if not n_lacking:
        return common
    return because("several", common, because("rounds_left_out", n_rounds=n_lacking))


def _logs(
    ours: Costs, theirs: Costs, needed: Needed, rounds: Sequence[str]
) -> Callable[[Floats], Floats]:
    """Return the log-ratios of the rounds, a row for each number of calls."""
    mine, other = (
        [np.array([one.series[name][key] for key in rounds]) for name in needed]
        for one in (ours, theirs)
    )
    apart = [a - b for a, b in zip(mine, other, strict=True)]
    both = [a + b for a, b in zip(mine, other, strict=True)]

    def at(calls: Floats) -> Floats:
        # log(a / b) = 2 atanh((a - b) / (a + b)), which keeps its digits where a is close to b.
        with np.errstate(divide="ignore", invalid="ignore"):  # of costs of 0, nothing is known
            return np.asarray(2 * np.arctanh(_rows(apart, calls) / _rows(both, calls)))

    return at


def _rows(costs: list[Floats], calls: Floats) -> Floats:
    """Return what each round pays, a row for each number of calls; in the end the last call."""
    first, two, later = costs
    number = calls[:, np.newaxis]
    ended = np.isinf(number)
    whole = two + (np.where(ended, FEWEST, number) - FEWEST) * later
    return np.where(ended, later, np.where(number == 1, first, whole))


def _terms(one: Costs, needed: Needed) -> dict[str, list[Term]]:
    names = zip(("first", "two", "later"), needed, strict=True)
    return {place: [(1.0, one.series[name])] for place, name in names}


def _paid(side: dict[str, list[Term]], calls: float) -> list[Term]:
    """Return what so many calls cost, in the end the last one."""
    if math.isinf(calls):
        return side["later"]
    if calls == 1:
        return side["first"]
    return [*side["two"], *((calls - FEWEST, series) for _, series in side["later"])]


def _by_sides(
    ours: dict[str, list[Term]], theirs: dict[str, list[Term]]
) -> Callable[[Floats, float], Bounds]:
    def bounded(calls: Floats, confidence: float) -> Bounds:
        found = [margin(_paid(ours, n), _paid(theirs, n), confidence) for n in calls.tolist()]
        low = [-math.inf if one.low is None else one.low for one in found]
        high = [math.inf if one.high is None else one.high for one in found]
        return np.array([one.middle for one in found]), np.array(low), np.array(high)

    return bounded


def _extent(
    ours: dict[str, list[Term]], theirs: dict[str, list[Term]]
) -> Callable[[Floats], tuple[Floats, Floats]]:
    def ends(side: dict[str, list[Term]], calls: float) -> tuple[float, float]:
        paid = [(times, list(series.values())) for times, series in _paid(side, calls)]
        return sum(n * min(each) for n, each in paid), sum(n * max(each) for n, each in paid)

    def extent(calls: Floats) -> tuple[Floats, Floats]:
        mine, other = (np.array([ends(side, n) for n in calls.tolist()]) for side in (ours, theirs))
        both = np.column_stack([mine, other])
        both[both <= 0] = np.nan  # of costs of 0, nothing is known
        logs = np.log(both)
        return logs[:, 0] - logs[:, 3], logs[:, 1] - logs[:, 2]

    return extent
