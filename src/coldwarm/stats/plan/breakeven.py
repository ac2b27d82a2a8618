"""From how many calls on one candidate costs no more than another.

N calls in one process cost the way to the first result, a second call, and N - 2 warm calls. The
second call stands for itself because frameworks still do first-time work in it.

Each round has both candidates' costs, so a ratio of their totals at every N, and a number of calls
from which this is 1. Whatever the machine does in a round cancels in its ratios. At each N the
centre of the rounds' log-ratios is bounded (``intervals.paired``), and the interval of N* holds
every N at which the totals cannot be told apart: it holds N* as surely as each of these intervals
holds the truth (Fieller, "Some problems in interval estimation", 1954). So nothing is divided by
a difference that may be 0: where the warm calls cannot be told apart, the interval has no end.

Where too few rounds have all costs of both sides, the totals are bounded side by side
(``expected.margin``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coldwarm.contracts.plan import BreakEven
from coldwarm.contracts.reasons import because
from coldwarm.stats.intervals import CONFIDENCE, FEWEST_FOR_INTERVAL, Centre, paired
from coldwarm.stats.plan.costs import FEWEST, WARM_CALL, Costs
from coldwarm.stats.plan.expected import left_out, margin, whole_rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.plan import Reading
    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.plan.expected import Term

    Floats = NDArray[np.float64]
    Curve = Callable[[int | None], float]
    """By how much a candidate is dearer at a number of calls, in any unit; ``None``: in the end."""

MOST_CALLS = 10**15
"""Larger numbers are not given: nobody makes so many calls."""
_TRIED: tuple[int, ...] = (*(2 * 8**power for power in range(17, -1, -1)), 1)
"""Numbers of calls between which a change is looked for, from above ``MOST_CALLS`` down."""
NEEDED: dict[Reading, tuple[str, str, str]] = {
    "process": ("empty.first", "empty.two", WARM_CALL),
    "imported": ("imported.first", "imported.two", WARM_CALL),
    "cached": ("filled.first", "filled.two", WARM_CALL),
}
"""The costs of a reading: to the first result, to the second, and of a warm call."""

Verdict = Literal["from", "until", "at_once", "never", "undecided"]


def no_dearer_from(dearer: Curve) -> int | None:
    """Return the least N such that the candidate is no dearer at N calls and at all above.

    ``None`` where it is dearer in the end. Of several changes the last one counts.
    """
    if _in_the_end(dearer) > 0:
        return None
    return _last(lambda calls: dearer(calls) > 0) + 1


def no_dearer_until(dearer: Curve) -> int | None:
    """Return the largest N at which the candidate is no dearer, 0 where there is none.

    ``None`` where it is no dearer in the end.
    """
    if _in_the_end(dearer) <= 0:
        return None
    return _last(lambda calls: dearer(calls) <= 0)


def _in_the_end(dearer: Curve) -> float:
    """Return the side on which the totals end; calls that cost the same leave it to the starts."""
    return dearer(None) or dearer(2)


def _last(holds: Callable[[int], bool]) -> int:
    """Return the largest number of calls at which something holds, 0 where it never does.

    It does not hold in the end.
    """
    below = next((calls for calls in _TRIED if holds(calls)), 0)
    if not below:
        return 0
    above = min((calls for calls in _TRIED if calls > below), default=below)
    while above - below > 1:
        between = (below + above) // 2
        below, above = (between, above) if holds(between) else (below, between)
    return below


def break_even(ours: Costs, theirs: Costs, reading: Reading) -> BreakEven:
    """Judge from how many calls on ours costs no more than theirs."""
    needed = NEEDED[reading]
    fault = ours.missing(needed) or theirs.missing(needed)
    if fault is not None:
        return _written(ours, theirs, reading, _Finding("undecided", fault))
    at, basis = _dearer_at(ours, theirs, needed)
    found = _Bounded(
        lambda calls: at(calls).middle, lambda calls: at(calls).low, lambda calls: at(calls).high
    )
    if math.isinf(found.best(None)):
        few = because("few_processes_each", n_needed=FEWEST_FOR_INTERVAL)
        finding = _Finding("undecided", few, no_dearer_from(found.middle))
    else:
        finding = _judge(found)
    return _written(ours, theirs, reading, finding, *basis)


def _dearer_at(
    ours: Costs, theirs: Costs, needed: tuple[str, str, str]
) -> tuple[Callable[[int | None], Centre], tuple[Reason, int]]:
    """Return by how much ours is dearer, bounded at each number of calls, and from what."""
    sides = [_terms(one, needed) for one in (ours, theirs)]
    first, second = ([term for terms in side.values() for term in terms] for side in sides)
    rounds = whole_rounds(first, second)

    @cache
    def by_sides(calls: int | None) -> Centre:
        mine, other = (_paid(side, calls) for side in sides)
        found = margin(mine, other)
        low = -math.inf if found.low is None else found.low
        return Centre(found.middle, low, math.inf if found.high is None else found.high)

    at = _in_rounds(ours, theirs, needed, rounds) if rounds else by_sides
    return at, _basis(len(rounds), first, second)


def _in_rounds(
    ours: Costs, theirs: Costs, needed: tuple[str, str, str], rounds: Sequence[str]
) -> Callable[[int | None], Centre]:
    """Return the centre of the rounds' log-ratios, bounded at each number of calls."""
    mine, other = (
        [np.array([one.series[name][key] for key in rounds]) for name in needed]
        for one in (ours, theirs)
    )
    dearer = [a - b for a, b in zip(mine, other, strict=True)]
    both = [a + b for a, b in zip(mine, other, strict=True)]

    def paid(costs: list[Floats], calls: int | None) -> Floats:
        first, two, later = costs
        if calls is None:
            return later
        return first if calls == 1 else two + (calls - FEWEST) * later

    @cache
    def at(calls: int | None) -> Centre:
        # log(a / b) = 2 atanh((a - b) / (a + b)), which keeps its digits where a is close to b.
        logs = 2 * np.arctanh(paid(dearer, calls) / paid(both, calls))
        return paired(logs.tolist(), CONFIDENCE)

    return at


def _terms(one: Costs, needed: tuple[str, str, str]) -> dict[str, list[Term]]:
    names = zip(("first", "two", "later"), needed, strict=True)
    return {place: [(1.0, one.series[name])] for place, name in names}


def _paid(side: dict[str, list[Term]], calls: int | None) -> list[Term]:
    """Return what so many calls cost, of infinitely many the last one."""
    if calls is None:
        return side["later"]
    if calls == 1:
        return side["first"]
    return [*side["two"], *((float(calls - FEWEST), series) for _, series in side["later"])]


def _basis(n_rounds: int, ours: list[Term], theirs: list[Term]) -> tuple[Reason, int]:
    """Say what the bounds are from, and from how many rounds or processes."""
    if not n_rounds:
        n_ours, n_theirs = (min(len(series) for _, series in side) for side in (ours, theirs))
        apart = because("separate_processes", n_processes=n_ours, n_baseline=n_theirs)
        return apart, min(n_ours, n_theirs)
    n_lacking = left_out(ours, theirs)
    common = because("common_rounds", n_rounds=n_rounds)
    if not n_lacking:
        return common, n_rounds
    lacking = because("rounds_left_out", n_rounds=n_lacking)
    return because("several", common, lacking), n_rounds


@dataclass(frozen=True)
class _Bounded:
    """By how much ours is dearer: in the middle, at best, and at worst."""

    middle: Curve
    best: Curve
    worst: Curve


@dataclass(frozen=True)
class _Finding:
    verdict: Verdict
    reason: Reason
    calls: int | None = None
    low: int | None = None
    high: int | None = None
    end: Literal["never", "at_once"] | None = None
    """What the interval ends with where it has no end."""


def _judge(found: _Bounded) -> _Finding:
    """Judge by which of the two differences is distinguished from 0, and to which side."""
    start = _sign(found.best(2), found.worst(2))
    equal_calls = found.best(None) == found.worst(None) == 0
    slope = start if equal_calls else _sign(found.best(None), found.worst(None))
    if slope < 0:
        return _pays_off(found)
    if slope > 0:
        return _paid_off(found)
    if found.best(2) == found.worst(2) == 0:
        return _Finding("undecided", because("starts_equal"))
    if start == 0:
        return _Finding("undecided", because("nothing_distinguished"))
    return _open_end(found, dearer=start > 0)


def _sign(low: float, high: float) -> int:
    """Return the side of 0 on which an interval lies, 0 where it holds 0 and more."""
    if low > 0:
        return 1
    return -1 if high < 0 or low == high == 0 else 0


def _pays_off(found: _Bounded) -> _Finding:
    calls, low, high = (no_dearer_from(at) for at in (found.middle, found.best, found.worst))
    if high == 1:
        return _Finding("at_once", because("neither_differs", which="dearer"), calls, low, 1)
    return _Finding("from", because("warm_call_differs", which="cheaper"), calls, low, high)


def _paid_off(found: _Bounded) -> _Finding:
    calls, low, high = (no_dearer_until(at) for at in (found.middle, found.worst, found.best))
    if high == 0:
        return _Finding("never", because("neither_differs", which="cheaper"), end="never")
    return _Finding("until", because("warm_call_differs", which="dearer"), calls, low, high)


def _open_end(found: _Bounded, *, dearer: bool) -> _Finding:
    if dearer:
        calls, low = no_dearer_from(found.middle), no_dearer_from(found.best)
    else:
        calls, low = no_dearer_until(found.middle), no_dearer_until(found.worst)
    reason = because("start_differs", which="dearer" if dearer else "cheaper")
    verdict: Verdict = "undecided" if calls is None else "from" if dearer else "until"
    return _Finding(verdict, reason, calls, low, None, "never" if dearer else "at_once")


def _written(  # noqa: PLR0913, PLR0917 - a record's parts, in its order
    ours: Costs,
    theirs: Costs,
    reading: Reading,
    finding: _Finding,
    basis: Reason | None = None,
    n_rounds: int | None = None,
) -> BreakEven:
    """Write a finding down, each missing number with its reason."""
    reasons: dict[str, Reason] = {}
    numbers: dict[str, Any] = {name: getattr(finding, name) for name in ("calls", "low", "high")}
    for name, value in numbers.items():
        if value is None:
            reasons[name] = because(finding.end) if finding.end else finding.reason
        elif value > MOST_CALLS:
            numbers[name], reasons[name] = None, because("many_calls", n_calls=MOST_CALLS)
    if basis is None:
        reasons |= dict.fromkeys(("n_rounds", "rests_on"), finding.reason)
    return BreakEven(
        candidate=ours.candidate,
        baseline=theirs.candidate,
        reading=reading,
        verdict=finding.verdict,
        **numbers,
        confidence=CONFIDENCE,
        reason=finding.reason,
        n_rounds=n_rounds,
        rests_on=basis,
        null_reasons=reasons,
    )
