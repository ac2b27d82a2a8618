"""By how much a candidate is dearer than another, at numbers of calls of one process. Pure.

N calls cost the way to the first result, a second call, and N - 2 later ones, which cost what they
took as far as they were measured (``later``).

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
    Paid = Callable[[float], list[Term]]
    """What a candidate pays for a number of calls."""
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
    first, second = ([(1.0, one.series[name]) for name in needed] for one in (ours, theirs))
    rounds = whole_rounds(first, second)
    if not rounds:
        n_ours, n_theirs = (min(len(s) for _, s in side) for side in (first, second))
        apart = because("separate_processes", n_processes=n_ours, n_baseline=n_theirs)
        paid = [lambda calls, one=one: _paid(one, needed, calls) for one in (ours, theirs)]
        return Dearer(_by_sides(*paid), _extent(*paid), min(n_ours, n_theirs), apart)
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
        beyond = [_beyond(one, calls, rounds) for one in (ours, theirs)]
        # log(a / b) = 2 atanh((a - b) / (a + b)), which keeps its digits where a is close to b.
        over = _rows(apart, calls) + (beyond[0] - beyond[1])
        under = _rows(both, calls) + (beyond[0] + beyond[1])
        with np.errstate(divide="ignore", invalid="ignore"):  # of costs of 0, nothing is known
            return np.asarray(2 * np.arctanh(over / under))

    return at


def _beyond(one: Costs, calls: Floats, rounds: Sequence[str]) -> Floats:
    """Return what the measured calls after the second one take more than as many further ones."""
    if one.later is None:
        return np.zeros((len(calls), 1))
    ended = np.isinf(calls)
    found = one.later.rows(np.where(ended, FEWEST, calls) - FEWEST, rounds)
    found[ended] = 0.0
    return found


def _rows(costs: list[Floats], calls: Floats) -> Floats:
    """Return what each round pays, a row for each number of calls; in the end the last call."""
    first, two, warm = costs
    number = calls[:, np.newaxis]
    ended = np.isinf(number)
    whole = two + (np.where(ended, FEWEST, number) - FEWEST) * warm
    return np.where(ended, warm, np.where(number == 1, first, whole))


def _paid(one: Costs, needed: Needed, calls: float) -> list[Term]:
    """Return what so many calls cost, in the end the last one."""
    first, two, warm = (one.series[name] for name in needed)
    if math.isinf(calls):
        return [(1.0, warm)]
    if calls == 1:
        return [(1.0, first)]
    beyond = [] if one.later is None else [(1.0, one.later.beyond(int(calls) - FEWEST))]
    return [(1.0, two), (calls - FEWEST, warm), *beyond]


def _by_sides(ours: Paid, theirs: Paid) -> Callable[[Floats, float], Bounds]:
    def bounded(calls: Floats, confidence: float) -> Bounds:
        found = [margin(ours(n), theirs(n), confidence) for n in calls.tolist()]
        low = [-math.inf if one.low is None else one.low for one in found]
        high = [math.inf if one.high is None else one.high for one in found]
        return np.array([one.middle for one in found]), np.array(low), np.array(high)

    return bounded


def _extent(ours: Paid, theirs: Paid) -> Callable[[Floats], tuple[Floats, Floats]]:
    def ends(side: Paid, calls: float) -> tuple[float, float]:
        paid = [(times, list(series.values())) for times, series in side(calls)]
        return sum(n * min(each) for n, each in paid), sum(n * max(each) for n, each in paid)

    def extent(calls: Floats) -> tuple[Floats, Floats]:
        mine, other = (np.array([ends(side, n) for n in calls.tolist()]) for side in (ours, theirs))
        both = np.column_stack([mine, other])
        both[both <= 0] = np.nan  # of costs of 0, nothing is known
        logs = np.log(both)
        return logs[:, 0] - logs[:, 3], logs[:, 1] - logs[:, 2]

    return extent
