"""How long things took together: intervals that overlap are not counted twice. Pure, in seconds."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Span = tuple[float, float]
    """From when to when."""


def union(spans: Iterable[Span]) -> list[Span]:
    """Return the time that at least one of the spans has, as spans in order that do not overlap."""
    found: list[Span] = []
    for begin_s, end_s in sorted(spans):
        if found and begin_s <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end_s)
        else:
            found.append((begin_s, end_s))
    return found


def outside(span: Span, others: Iterable[Span]) -> list[Span]:
    """Return the parts of a span that are in none of the others, in order."""
    parts = []
    begin_s, end_s = span
    for from_s, to_s in union(others):
        if to_s <= begin_s or from_s >= end_s:
            continue
        if from_s > begin_s:
            parts.append((begin_s, from_s))
        begin_s = max(begin_s, to_s)
    return [*parts, (begin_s, end_s)] if begin_s < end_s else parts


def length(spans: Iterable[Span]) -> float:
    """Return the seconds of spans that do not overlap."""
    return sum(end_s - begin_s for begin_s, end_s in spans)


def shared(spans: Sequence[Span]) -> Callable[[Span], float]:
    """Return what gives each span its share of the time: half of that in which two of them run."""
    changes = sorted([(begin, 1) for begin, _ in spans] + [(end, -1) for _, end in spans])
    times = [at for at, _ in changes]
    active = list(accumulate(change for _, change in changes))
    parts = [(b - a) / n if n else 0.0 for (a, b), n in zip(pairwise(times), active, strict=False)]
    before = [0.0, *accumulate(parts)]

    def until(at_s: float) -> float:
        last = bisect_right(times, at_s) - 1
        if last < 0:
            return 0.0
        return before[last] + ((at_s - times[last]) / active[last] if active[last] else 0.0)

    return lambda span: until(span[1]) - until(span[0])
