"""From how many calls on one candidate costs no more than another. Pure.

By how much it is dearer at each number of calls N, and between which bounds, says ``dearer``. The
interval of N* holds every N at which the totals cannot be told apart: it holds N* as surely as each
of these intervals holds the truth (Fieller, "Some problems in interval estimation", 1954). So
nothing is divided by a difference that may be 0: where the warm calls cannot be told apart, the
interval has no end.

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
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coldwarm.contracts.answer import BreakEven
from coldwarm.contracts.reasons import because
from coldwarm.stats.costs import FEWEST, WARM_CALL, Costs, measured_calls
from coldwarm.stats.expected import left_out, margin, middle_s, whole_rounds
from coldwarm.stats.intervals import (
    CONFIDENCE,
    FEWEST_FOR_INTERVAL,
    Interval,
    common_rounds,
    paired_rows,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.base import Reading
    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.costs import Costs
    from coldwarm.stats.expected import Term

    Curve = Callable[[int | None], float]
    """By how much a candidate is dearer at a number of calls, in any unit; ``None``: in the end."""
    Floats = NDArray[np.float64]
    Needed = tuple[str, str, str]
    Paid = Callable[[float], list[Term]]
    """Costs of a candidate for a number of calls."""
    Bounds = tuple[Floats, Floats, Floats]
    """Intervals, and their lower and upper bounds."""


_STEP = 1.2
_TRIED: tuple[int, ...] = (
    *sorted({math.ceil(2 * _STEP**power) for power in range(200)}, reverse=True),
    1,
)
"""Numbers of calls between which a change is looked for, from above ``MOST_CALLS`` down."""

_Verdict = Literal["from", "until", "at_once", "never", "undecided"]


def _no_dearer_from(dearer: Curve) -> int | None:
    """Return the least N such that the candidate is no dearer at N calls and at all above.

    ``None`` where it is dearer in the end. Of several changes the last one counts.
    """
    if _in_the_end(dearer) > 0:
        return None
    return _last(lambda calls: dearer(calls) > 0) + 1


def _no_dearer_until(dearer: Curve) -> int | None:
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
    held = dearer(ours, theirs, needed)

    tried = held.bounded(np.array([_IN_THE_END, *_TRIED], dtype=np.float64), CONFIDENCE)
    known: dict[int | None, Interval] = {
        calls: Interval(*(float(one[place]) for one in tried))
        for place, calls in enumerate([None, *_TRIED])
    }

    def at(calls: int | None) -> Interval:
        if calls not in known:
            number = np.array([calls], dtype=np.float64)
            known[calls] = Interval(*(float(one[0]) for one in held.bounded(number, CONFIDENCE)))
        return known[calls]

    found = _Bounded(
        lambda calls: at(calls).middle, lambda calls: at(calls).low, lambda calls: at(calls).high
    )
    if math.isinf(found.best(None)):
        few = because("few_processes_each", n_needed=FEWEST_FOR_INTERVAL)
        finding = _Finding("undecided", few, _no_dearer_from(found.middle))
    else:
        finding = _judge(found)
    return _written(ours, theirs, reading, finding, held.basis, held.n)


@dataclass(frozen=True)
class _Bounded:
    """By how much ours is dearer: in the middle, at best, and at worst."""

    middle: Curve
    best: Curve
    worst: Curve


@dataclass(frozen=True)
class _Finding:
    verdict: _Verdict
    reason: Reason
    calls: int | None = None
    low: int | None = None
    high: int | None = None
    end: Literal["never", "at_once"] | None = None
    """End of the interval where it has no number."""


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
    calls, low, high = (_no_dearer_from(at) for at in (found.middle, found.best, found.worst))
    if high == 1:
        return _Finding("at_once", because("neither_differs", which="dearer"), calls, low, 1)
    return _Finding("from", because("warm_call_differs", which="cheaper"), calls, low, high)


def _paid_off(found: _Bounded) -> _Finding:
    calls, low, high = (_no_dearer_until(at) for at in (found.middle, found.worst, found.best))
    if high == 0:
        return _Finding("never", because("neither_differs", which="cheaper"), end="never")
    return _Finding("until", because("warm_call_differs", which="dearer"), calls, low, high)


def _open_end(found: _Bounded, *, dearer: bool) -> _Finding:
    if dearer:
        calls, low = _no_dearer_from(found.middle), _no_dearer_from(found.best)
    else:
        calls, low = _no_dearer_until(found.middle), _no_dearer_until(found.worst)
    reason = because("start_differs", which="dearer" if dearer else "cheaper")
    verdict: _Verdict = "undecided" if calls is None else "from" if dearer else "until"
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
        measured_calls=measured_calls((ours, theirs)),
        rests_on=basis,
        null_reasons=reasons,
    )


NEEDED: dict[Reading, tuple[str, str, str]] = {
    "process": ("empty.first", "empty.two", WARM_CALL),
    "imported": ("imported.first", "imported.two", WARM_CALL),
    "cached": ("filled.first", "filled.two", WARM_CALL),
}
"""The costs of a reading: to the first result, to the second, and of a warm call."""
MOST_CALLS = 10**15
"""Larger numbers are not given: nobody makes so many calls."""
_IN_THE_END = math.inf
"""As a number of calls: only the last one is looked at."""


@dataclass(frozen=True)
class Parts:
    """What a candidate pays over what another one pays, each part from all rounds that have it.

    Rounds that lack another part count too, so a start of three rounds and calls of twenty say more
    than the three rounds that have both.
    """

    first: Floats
    """Log-ratios of a first result, by round."""
    two: Floats
    """Log-ratios of a start with its second call, by round."""
    later: Callable[[Floats], Floats]
    """At numbers of calls, log-ratios of those after the second one, by round."""
    share: Callable[[Floats], tuple[Floats, Floats]]
    """At numbers of calls, the least and the greatest share of ``two`` in what the other pays."""


@dataclass(frozen=True)
class Dearer:
    """By how much a candidate is dearer, in any unit; 0: it costs the same."""

    bounded: Callable[[Floats, float], Bounds]
    """At numbers of calls, its centre and the bounds of that at a confidence."""
    extent: Callable[[Floats], tuple[Floats, Floats]]
    """At numbers of calls, the least and the greatest log-ratio that was seen."""
    band: Callable[[Floats, float], Floats]
    """At numbers of calls, how much a relative difference is in that unit."""
    parts: Parts
    """The same by its parts."""
    n: int
    """Rounds that both have; where none are common, processes of the side that has fewer."""
    basis: Reason
    """Source of the bounds."""


def dearer(ours: Costs, theirs: Costs, needed: Needed) -> Dearer:
    """Hold the costs of ours against those of theirs; both have all that is needed."""
    first, second = ([(1.0, one.series[name]) for name in needed] for one in (ours, theirs))
    rounds = whole_rounds(first, second)
    parts = _parts(ours, theirs, needed)
    if not rounds:
        n_ours, n_theirs = (min(len(s) for _, s in side) for side in (first, second))
        apart = because("separate_processes", n_processes=n_ours, n_baseline=n_theirs)
        both = [lambda calls, one=one: paid(one, needed, calls) for one in (ours, theirs)]
        n = min(n_ours, n_theirs)
        return Dearer(_by_sides(*both), _extent(*both), _share_of_less(*both), parts, n, apart)
    logs = _logs(ours, theirs, needed, rounds)
    return Dearer(
        lambda calls, confidence: paired_rows(logs(calls), confidence),
        lambda calls: (logs(calls).min(axis=1), logs(calls).max(axis=1)),
        lambda calls, share: np.full(len(calls), math.log1p(share)),
        parts,
        len(rounds),
        _basis(len(rounds), left_out(first, second), levelled=_start_alike(ours, theirs, needed)),
    )


def _parts(ours: Costs, theirs: Costs, needed: Needed) -> Parts:
    first, two, _ = needed
    other = np.array([*theirs.series[two].values()])

    def later(calls: Floats) -> Floats:
        rounds = common_rounds(ours.series[WARM_CALL], theirs.series[WARM_CALL])
        mine, other = (_later_s(one, calls, rounds) for one in (ours, theirs))
        with np.errstate(divide="ignore", invalid="ignore"):  # of costs of 0, nothing is known
            return np.log(mine / other)

    def share(calls: Floats) -> tuple[Floats, Floats]:
        then = _later_s(theirs, calls, [*theirs.series[WARM_CALL]])
        with np.errstate(divide="ignore", invalid="ignore"):
            least = other.min() / (other.min() + then.max(axis=1))
            return least, other.max() / (other.max() + then.min(axis=1))

    return Parts(_log_ratios(ours, theirs, first), _log_ratios(ours, theirs, two), later, share)


def _later_s(one: Costs, calls: Floats, rounds: Sequence[str]) -> Floats:
    """Return what the calls after the second one take, a row for each number of calls above 2."""
    rates = np.array([one.series[WARM_CALL][key] for key in rounds])
    further: Floats = (calls[:, np.newaxis] - FEWEST) * rates
    return further + _beyond(one, calls, rounds)


def _log_ratios(ours: Costs, theirs: Costs, name: str) -> Floats:
    """Return the log-ratio of one cost in each round in which both sides have it."""
    mine, other = ours.series[name], theirs.series[name]
    rounds = [key for key in common_rounds(mine, other) if mine[key] > 0 and other[key] > 0]
    return np.array([math.log(mine[key] / other[key]) for key in rounds])


def _basis(n_rounds: int, n_lacking: int, *, levelled: bool) -> Reason:
    found = [because("common_rounds", n_rounds=n_rounds)]
    if n_lacking:
        found.append(because("rounds_left_out", n_rounds=n_lacking))
    if levelled:
        found.append(because("common_start"))
    return because("several", *found) if len(found) > 1 else found[0]


def _start_alike(ours: Costs, theirs: Costs, needed: Needed) -> bool:
    """Say whether the starts of both are among the costs, and are alike."""
    with_start = not needed[0].startswith("imported")
    return with_start and ours.starts_as is not None and ours.starts_as == theirs.starts_as


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


def paid(one: Costs, needed: Needed, calls: float) -> list[Term]:
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
        middle, low, high = np.array([(one.middle, one.low, one.high) for one in found]).T
        return middle, low, high

    return bounded


def _share_of_less(ours: Paid, theirs: Paid) -> Callable[[Floats, float], Floats]:
    """Return a share of the lower total, at each number of calls."""

    def band(calls: Floats, share: float) -> Floats:
        return np.array([share * min(middle_s(ours(n)), middle_s(theirs(n))) for n in calls])

    return band


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
