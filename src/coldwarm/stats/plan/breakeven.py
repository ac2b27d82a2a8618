"""From how many calls on one candidate costs no more than another.

N calls in one process cost the way to the first result, a second call, and N - 2 warm calls. The
second call stands for itself because frameworks still do first-time work in it. The difference of
two candidates is therefore one number at one call, and from two calls on a straight line, given by
its value at two calls and by the difference of their warm calls. The number of calls grows with
both. So an interval of each, held with 97.5 %, bounds it with 95 % (Bonferroni), whatever the two
have to do with each other: the bounds are those at two corners of the box.

The count is exact: seconds are taken as the fractions that they are, and counts as integers of
any size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from coldwarm.contracts.plan import BreakEven
from coldwarm.contracts.reasons import because
from coldwarm.stats.bounded import difference
from coldwarm.stats.intervals import FEWEST_FOR_INTERVAL
from coldwarm.stats.plan.costs import WARM_CALL, Costs

if TYPE_CHECKING:
    from coldwarm.contracts.plan import Reading
    from coldwarm.contracts.reasons import Reason

CONFIDENCE = 0.95
EACH = 1 - (1 - CONFIDENCE) / 2
"""Confidence of each side of the box."""
MOST_CALLS = 10**15
"""Larger numbers are not given: nobody makes so many calls."""
NEEDED: dict[Reading, tuple[str, str, str]] = {
    "process": ("empty.first", "empty.two", WARM_CALL),
    "imported": ("imported.first", "imported.two", WARM_CALL),
    "cached": ("filled.first", "filled.two", WARM_CALL),
}
"""The costs of a reading: to the first result, to the second, and of a warm call."""

Number = float | Fraction
Verdict = Literal["from", "until", "at_once", "never", "undecided"]


@dataclass(frozen=True)
class Line:
    """By how many seconds a candidate is dearer than another.

    ``one`` after one call, ``two`` after two, and ``later`` more with each call from then on.
    """

    one: Number
    two: Number
    later: Number


def no_dearer_from(line: Line) -> int | None:
    """Return the least N such that the candidate is no dearer at N calls and at all above.

    ``None`` where it is dearer in the end.
    """
    two, later = Fraction(line.two), Fraction(line.later)
    if later > 0 or (later == 0 and two > 0):
        return None
    if two > 0:
        return 2 + math.ceil(two / -later)
    return 2 if line.one > 0 else 1


def no_dearer_until(line: Line) -> int | None:
    """Return the largest N at which the candidate is no dearer, 0 where there is none.

    ``None`` where it is no dearer in the end.
    """
    if no_dearer_from(line) is not None:
        return None
    two, later = Fraction(line.two), Fraction(line.later)
    if two <= 0:
        return 2 + math.floor(-two / later)
    return 1 if line.one <= 0 else 0


@dataclass(frozen=True)
class _Box:
    """Where the line lies: in the middle, and at its cheapest and dearest corner."""

    middle: Line
    best: Line
    worst: Line


def break_even(ours: Costs, theirs: Costs, reading: Reading) -> BreakEven:
    """Judge from how many calls on ours costs no more than theirs."""
    needed = NEEDED[reading]
    fault = ours.missing(needed) or theirs.missing(needed)
    if fault is not None:
        return _written(ours, theirs, reading, _Finding("undecided", fault))
    one, two, later = (difference(ours.series[n], theirs.series[n], EACH) for n in needed)
    middle = Line(one.middle, two.middle, later.middle)
    ends = (one.low, two.low, later.low), (one.high, two.high, later.high)
    lows, highs = ([bound for bound in side if bound is not None] for side in ends)
    if len(lows) < len(needed):
        few = because("few_processes_each", n_needed=FEWEST_FOR_INTERVAL)
        return _written(ours, theirs, reading, _Finding("undecided", few, no_dearer_from(middle)))
    return _written(ours, theirs, reading, _judge(_Box(middle, Line(*lows), Line(*highs))))


@dataclass(frozen=True)
class _Finding:
    verdict: Verdict
    reason: Reason
    calls: int | None = None
    low: int | None = None
    high: int | None = None
    end: Literal["never", "at_once"] | None = None
    """What the interval ends with where it has no end."""


def _judge(box: _Box) -> _Finding:
    """Judge by which of the two differences is distinguished from 0, and to which side."""
    slope = _sign(box.best.later, box.worst.later)
    start = _sign(box.best.two, box.worst.two)
    if box.best.later == box.worst.later == 0:
        slope = start
    if slope < 0:
        return _pays_off(box)
    if slope > 0:
        return _paid_off(box)
    if box.best.two == box.worst.two == 0:
        return _Finding("undecided", because("starts_equal"))
    if start == 0:
        return _Finding("undecided", because("nothing_distinguished"))
    return _open_end(box, dearer=start > 0)


def _sign(low: Number, high: Number) -> int:
    """Return the side of 0 on which an interval lies, 0 where it holds 0 and more."""
    if low > 0:
        return 1
    return -1 if high < 0 or low == high == 0 else 0


def _pays_off(box: _Box) -> _Finding:
    calls, low, high = (no_dearer_from(line) for line in (box.middle, box.best, box.worst))
    if high == 1:
        return _Finding("at_once", because("neither_differs", which="dearer"), calls, low, 1)
    return _Finding("from", because("warm_call_differs", which="cheaper"), calls, low, high)


def _paid_off(box: _Box) -> _Finding:
    calls, low, high = (no_dearer_until(line) for line in (box.middle, box.worst, box.best))
    if high == 0:
        return _Finding("never", because("neither_differs", which="cheaper"), end="never")
    return _Finding("until", because("warm_call_differs", which="dearer"), calls, low, high)


def _open_end(box: _Box, *, dearer: bool) -> _Finding:
    if dearer:
        calls, low = no_dearer_from(box.middle), no_dearer_from(box.best)
    else:
        calls, low = no_dearer_until(box.middle), no_dearer_until(box.worst)
    reason = because("start_differs", which="dearer" if dearer else "cheaper")
    verdict: Verdict = "undecided" if calls is None else "from" if dearer else "until"
    return _Finding(verdict, reason, calls, low, None, "never" if dearer else "at_once")


def _written(ours: Costs, theirs: Costs, reading: Reading, finding: _Finding) -> BreakEven:
    """Write a finding down, each missing number with its reason."""
    reasons: dict[str, Reason] = {}
    numbers: dict[str, Any] = {name: getattr(finding, name) for name in ("calls", "low", "high")}
    for name, value in numbers.items():
        if value is None:
            reasons[name] = because(finding.end) if finding.end else finding.reason
        elif value > MOST_CALLS:
            numbers[name], reasons[name] = None, because("many_calls", n_calls=MOST_CALLS)
    return BreakEven(
        candidate=ours.candidate,
        baseline=theirs.candidate,
        reading=reading,
        verdict=finding.verdict,
        **numbers,
        confidence=CONFIDENCE,
        reason=finding.reason,
        null_reasons=reasons,
    )
