"""Who is the cheapest by size, the borders between them, and the size to measure next. Pure.

At each size a bench of its own has told who may be the cheapest (``answers``). A border lies
between two sizes at which single candidates that differ surely are it: nothing is assumed of how
costs grow between them but that they do not jump. So its interval is wrong only where one of these
two answers is. Its estimate, where lines through the logarithms cross, is for drawing and planning.

*The next size.* First those of a coarse grid, ten times apart at most. Then one near the ratio's
zero, as far as it is known, in the widest interval of a border: where that is open, one in the gap
on either side of it. Last, gaps in which two borders may hide: a ratio of two costs hardly changes
faster than in proportion to the size.
"""

from __future__ import annotations

import math
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from coldwarm.contracts.base import EMPTY, FILLED, WARM
from coldwarm.contracts.reasons import because
from coldwarm.contracts.sweep import Border, BySize, Growth, SizePoint, SizeRange

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.answer import Answer, Lead
    from coldwarm.contracts.base import CacheMode, Reading

CALLS = (1, 100, 10_000)
"""Calls of a process for which borders are told."""
MODES: dict[Reading, CacheMode] = {"process": EMPTY, "cached": FILLED}
"""The cache mode in which processes start, by the readings that are told by size."""
_FEWEST_FOR_GROWTH = 3
_DECADES = 2.0
"""Up to this far below the largest size calls count for how they grow."""
_CONFIDENCE = 0.95


class Figure(NamedTuple):
    """What a candidate is to be cheapest in."""

    reading: Reading | None
    calls: int | None


def figures(points: Sequence[SizePoint]) -> list[Figure]:
    """Return what the points can tell of: a warm call first, then processes of some calls."""
    told = [one.answer for one in points if one.answer is not None]
    found = []
    if any(_lead(one, WARM) is not None for one in told):
        found.append(Figure(None, None))
    for reading, mode in MODES.items():
        if any(one.reading == reading and one.ranges for each in told for one in each.by_calls):
            found += [Figure(reading, calls) for calls in CALLS]
        elif any(_lead(one, mode) is not None for one in told):
            found.append(Figure(reading, 1))
    return found


def may_be_cheapest(answer: Answer, figure: Figure) -> frozenset[str]:
    """Return the candidates that may be the cheapest; none where nothing is told of any."""
    found = next((one for one in answer.by_calls if one.reading == figure.reading), None)
    calls = figure.calls
    for one in found.ranges if found and calls is not None else ():
        if one.to_calls is None or (calls is not None and calls <= one.to_calls):
            return frozenset(one.among)
    lead = _lead(answer, WARM if figure.reading is None else MODES[figure.reading])
    return _leading(lead) if lead is not None and figure.calls in {None, 1} else frozenset()


def _lead(answer: Answer, mode: CacheMode) -> Lead | None:
    return next((one for one in answer.leads if one.mode == mode and one.judged), None)


def _leading(lead: Lead) -> frozenset[str]:
    """Return whom no verdict excludes."""
    if lead.fastest is not None:
        return frozenset({lead.fastest})
    left = {one.candidate for one in (*lead.faster, *lead.undecided)}
    if not lead.faster:
        left |= {lead.baseline, *(one.candidate for one in lead.same)}
    return frozenset(left)


def by_size(points: Sequence[SizePoint], figure: Figure) -> BySize:
    """Return which candidate is the cheapest at which sizes, and the borders between them."""
    told = [
        (one, may_be_cheapest(one.answer, figure))
        for one in sorted(points, key=lambda one: one.size)
        if one.answer is not None
    ]
    told = [(one, among) for one, among in told if among]
    ranges = []
    for among, members in groupby(told, key=lambda pair: pair[1]):
        sizes = [one.size for one, _ in members]
        ranges.append(
            SizeRange(
                from_size=sizes[0],
                to_size=sizes[-1],
                cheapest=min(among) if len(among) == 1 else None,
                among=sorted(among),
            )
        )
    left = {name for one in ranges for name in one.among}
    every = {name for one, _ in told if one.answer for name in one.answer.candidates}
    return BySize(
        reading=figure.reading,
        calls=figure.calls,
        ranges=ranges,
        borders=list(_borders(ranges, [one for one, _ in told], figure)),
        never=sorted(every - left),
    )


def _borders(
    ranges: Sequence[SizeRange], points: Sequence[SizePoint], figure: Figure
) -> Iterator[Border]:
    decided = [one for one in ranges if one.cheapest is not None]
    for before, after in pairwise(decided):
        below, above = before.cheapest, after.cheapest
        if below is None or above is None or below == above:
            continue
        within = [one for one in points if before.to_size <= one.size <= after.from_size]
        yield Border(
            below=below,
            above=above,
            low=before.to_size,
            high=after.from_size,
            estimate=_crossing(within, below, above, figure),
        )


def _crossing(points: Sequence[SizePoint], below: str, above: str, figure: Figure) -> float:
    """Return the size at which a line through the log-ratios of two neighbours is 0."""
    known = [
        (math.log(one.size), math.log(ours / theirs))
        for one in points
        for ours, theirs in [(cost_s(one, below, figure), cost_s(one, above, figure))]
        if ours and theirs
    ]
    for (first, before), (second, after) in pairwise(known):
        if before < 0 <= after:
            return math.exp(first + (second - first) * before / (before - after))
    return math.sqrt(points[0].size * points[-1].size)


def cost_s(point: SizePoint, candidate: str, figure: Figure) -> float | None:
    """Return the seconds of a warm call, or of a process of so many calls, as medians have it."""
    call = point.call.get(candidate)
    if figure.calls is None or figure.reading is None:
        return call.median if call else None
    start = point.start.get(MODES[figure.reading], {}).get(candidate)
    if start is None or (call is None and figure.calls > 1):
        return None
    return start.median + (figure.calls - 1) * (call.median if call else 0.0)


def growth(points: Sequence[SizePoint], candidate: str) -> Growth:
    """Return the power of the size with which warm calls grow, at the largest sizes."""
    known = sorted(
        (one.size, one.call[candidate].median)
        for one in points
        if candidate in one.call and one.call[candidate].median > 0
    )
    largest = known[-1][0] if known else 0
    used = [pair for pair in known if math.log10(largest / pair[0]) <= _DECADES]
    if len(used) < _FEWEST_FOR_GROWTH:
        why = because("few_sizes", n_sizes=len(used), n_needed=_FEWEST_FOR_GROWTH)
        return Growth(
            candidate=candidate,
            exponent=None,
            low=None,
            high=None,
            from_size=used[0][0] if used else 0,
            to_size=largest,
            null_reasons=dict.fromkeys(("exponent", "low", "high"), why),
        )
    fit = stats.linregress(*np.log(np.array(used)).T)
    half = float(stats.t.ppf((1 + _CONFIDENCE) / 2, len(used) - 2) * fit.stderr)
    return Growth(
        candidate=candidate,
        exponent=float(fit.slope),
        low=float(fit.slope) - half,
        high=float(fit.slope) + half,
        from_size=used[0][0],
        to_size=largest,
    )


_STEP = 10.0
"""Between sizes of the coarse grid, at most."""
_STEEPEST = 1.0
"""Power of the size with which a ratio of two costs changes at most, as far as is known before."""
_DIGITS = 3


def grid(low: int, high: int) -> list[int]:
    """Return the coarse grid: both ends first, then the middle, so that an early end leaves all."""
    n = max(1, math.ceil(math.log(high / low) / math.log(_STEP) - 1e-9))
    sizes = sorted({rounded(low * (high / low) ** (at / n)) for at in range(n + 1)} | {low, high})
    ordered = [sizes[0], sizes[-1]]
    gaps = [(0, len(sizes) - 1)]
    while gaps:
        first, last = gaps.pop(0)
        middle = (first + last) // 2
        if middle in {first, last}:
            continue
        ordered.append(sizes[middle])
        gaps += [(first, middle), (middle, last)]
    return list(dict.fromkeys(ordered))


def rounded(size: float) -> int:
    """Return a size with few digits."""
    digits = max(0, math.floor(math.log10(size)) - _DIGITS + 1)
    return int(round(size / 10**digits) * 10**digits)


def next_size(points: Sequence[SizePoint], low: int, high: int, goal: float) -> int | None:
    """Return the size that tells most; ``None``: no border is wider than ``goal``, and none hides.

    ``goal``: the half-width of a border's interval over its middle.
    """
    measured = {one.size for one in points}
    for size in grid(low, high):
        if size not in measured:
            return size
    found = [by_size(points, figure) for figure in figures(points)]
    for one in found:  # a warm call first
        wide = [border for border in one.borders if border.half_width > goal]
        for border in sorted(wide, key=lambda border: -border.half_width):
            within = _within(border, points, goal)
            if within is not None and within not in measured:
                return within
    return next((size for size in _hiding(points, found[:1]) if size not in measured), None)


def _within(border: Border, points: Sequence[SizePoint], goal: float) -> int | None:
    """Return a size between the ends of a border: near its estimate where nothing lies between.

    Else in the wider of the two gaps at its ends; ``None``: both are as narrow as asked for, and
    what lies between them cannot be told apart.
    """
    inner = [one.size for one in points if border.low < one.size < border.high]
    if not inner:
        width = math.log(border.high / border.low)
        at = math.log(border.estimate / border.low) / width
        return rounded(border.low * math.exp(width * min(max(at, 0.25), 0.75)))
    low, high = max(
        (border.low, min(inner)), (max(inner), border.high), key=lambda gap: gap[1] / gap[0]
    )
    return rounded(math.sqrt(low * high)) if high / low > 1 + goal / 2 else None


def _hiding(points: Sequence[SizePoint], found: Sequence[BySize]) -> Iterator[int]:
    """Yield the middles of gaps whose ends agree, but could hold two borders."""
    ordered = sorted((one for one in points if one.answer is not None), key=lambda one: one.size)
    for one in found:
        figure = Figure(one.reading, one.calls)
        gaps = []
        for before, after in pairwise(ordered):
            width = math.log(after.size / before.size)
            room = _STEEPEST * width - _least_distance(before, after, figure)
            if width > math.log(2) and room > 0:
                gaps.append((room, rounded(math.sqrt(before.size * after.size))))
        yield from (size for _, size in sorted(gaps, reverse=True))


def _least_distance(before: SizePoint, after: SizePoint, figure: Figure) -> float:
    """Return by how much the log-ratios of the cheapest and the next one change there at least.

    To cross 0 and come back. Infinite where two sizes do not agree on the cheapest.
    """
    first, second = _costs(before, figure), _costs(after, figure)
    names = [name for name in first if name in second]
    if len(names) <= 1:
        return math.inf
    best = min(names, key=first.__getitem__)
    if best != min(names, key=second.__getitem__):
        return math.inf
    return min(
        math.log(first[name] / first[best]) + math.log(second[name] / second[best])
        for name in names
        if name != best
    )


def _costs(point: SizePoint, figure: Figure) -> dict[str, float]:
    names = point.answer.candidates if point.answer is not None else []
    known = {name: cost_s(point, name, figure) for name in names}
    return {name: cost for name, cost in known.items() if cost}
