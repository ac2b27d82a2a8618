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

from coldwarm.contracts.base import EMPTY, FILLED, WARM
from coldwarm.contracts.reasons import because
from coldwarm.contracts.sweep import Border, BySize, Growth, SizePoint, SizeRange
from coldwarm.stats.intervals import CONFIDENCE, student

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import Answer, Lead
    from coldwarm.contracts.base import CacheMode, Reading

CALLS = (1, 100, 10_000)
"""Calls of a process for which borders are told."""
MODES: dict[Reading, CacheMode] = {"process": EMPTY, "cached": FILLED}
"""The cache mode in which processes start, by the readings that are told by size."""
_FEWEST_FOR_GROWTH = 3
_DECADES = 2.0
"""Up to this far below the largest size calls count for how they grow."""


class Measure(NamedTuple):
    """What a candidate is to be cheapest in."""

    reading: Reading | None
    calls: int | None


class Told(NamedTuple):
    """What is known of a size."""

    among: frozenset[str] = frozenset()
    """Who may be the cheapest; nobody where nothing is told."""
    compared: frozenset[str] = frozenset()
    same_within: float | None = None
    extrapolated: bool = False


def measures(points: Sequence[SizePoint]) -> list[Measure]:
    """Return what the points can tell of: a warm call first, then processes of some calls."""
    known = [one.answer for one in points if one.answer is not None]
    found = []
    if any(_lead(one, WARM) is not None for one in known):
        found.append(Measure(None, None))
    for reading, mode in MODES.items():
        by_calls = [one.reading(reading) for one in known]
        if any(one is not None and one.ranges for one in by_calls):
            found += [Measure(reading, calls) for calls in CALLS]
        elif any(_lead(one, mode) is not None for one in known):
            found.append(Measure(reading, 1))
    return found


def told(answer: Answer | None, measure: Measure) -> Told:
    """Return who may be the cheapest at a size."""
    if answer is None:
        return Told()
    if measure.reading is None or measure.calls is None:
        return _led(_lead(answer, WARM))
    by = answer.reading(measure.reading)
    found = by.range_at(measure.calls) if by else None
    if by is not None and found is not None:
        names = frozenset(by.candidates)
        beyond = by.is_extrapolated(measure.calls)
        return Told(frozenset(found.among), names, found.same_within, beyond)
    return _led(_lead(answer, MODES[measure.reading])) if measure.calls == 1 else Told()


def _lead(answer: Answer, mode: CacheMode) -> Lead | None:
    found = answer.lead(mode)
    return found if found is not None and found.judged else None


def _led(lead: Lead | None) -> Told:
    """Return whom no verdict excludes."""
    if lead is None:
        return Told()
    compared = frozenset({lead.baseline, *(one.candidate for one in lead.judged)})
    if lead.fastest is not None:
        return Told(frozenset({lead.fastest}), compared)
    left = {one.candidate for one in (*lead.faster, *lead.undecided)}
    if lead.faster:
        return Told(frozenset(left), compared)
    left |= {lead.baseline, *(one.candidate for one in lead.same)}
    same = None if lead.undecided else max(one.threshold for one in lead.judged)
    return Told(frozenset(left), compared, same)


def by_size(points: Sequence[SizePoint], measure: Measure) -> BySize:
    """Return which candidate is the cheapest at which sizes, and the borders between them."""
    ordered = sorted(points, key=lambda one: one.size)
    known = {one.size: told(one.answer, measure) for one in ordered}
    ranges = []
    # A size of which nothing is told ends a range.
    for (among, within), members in groupby(
        ordered, key=lambda one: (known[one.size].among, known[one.size].same_within)
    ):
        sizes = [one.size for one in members]
        if among:
            ranges.append(
                SizeRange(
                    from_size=sizes[0],
                    to_size=sizes[-1],
                    cheapest=min(among) if len(among) == 1 else None,
                    among=sorted(among),
                    same_within=within,
                )
            )
    seen = [one for one in known.values() if one.among]
    compared = frozenset.intersection(*(one.compared for one in seen)) if seen else frozenset()
    return BySize(
        reading=measure.reading,
        calls=measure.calls,
        ranges=ranges,
        borders=list(_borders(ranges, ordered, known, measure)),
        never=sorted(compared - {name for one in ranges for name in one.among}),
        extrapolated=any(one.extrapolated for one in seen),
    )


def _borders(
    ranges: Sequence[SizeRange],
    points: Sequence[SizePoint],
    known: Mapping[int, Told],
    measure: Measure,
) -> Iterator[Border]:
    """Yield the changes between sizes at which both candidates were compared."""
    decided = [one for one in ranges if one.cheapest is not None]
    for before, after in pairwise(decided):
        below, above = before.cheapest, after.cheapest
        ends = known[before.to_size].compared & known[after.from_size].compared
        if below is None or above is None or below == above or not ends >= {below, above}:
            continue
        within = [one for one in points if before.to_size <= one.size <= after.from_size]
        yield Border(
            below=below,
            above=above,
            low=before.to_size,
            high=after.from_size,
            estimate=_crossing(within, below, above, measure),
        )


def _crossing(points: Sequence[SizePoint], below: str, above: str, measure: Measure) -> float:
    """Return the size at which a line through the log-ratios of two neighbours is 0."""
    known = [
        (math.log(one.size), math.log(ours / theirs))
        for one in points
        for ours, theirs in [(cost_s(one, below, measure), cost_s(one, above, measure))]
        if ours and theirs
    ]
    for (first, before), (second, after) in pairwise(known):
        if before < 0 <= after:
            return math.exp(first + (second - first) * before / (before - after))
    return math.sqrt(points[0].size * points[-1].size)


def cost_s(point: SizePoint, candidate: str, measure: Measure) -> float | None:
    """Return the seconds of a warm call, or of a process of so many calls, as medians have it."""
    call = point.call.get(candidate)
    if measure.calls is None or measure.reading is None:
        return call.median if call else None
    start = point.start.get(MODES[measure.reading], {}).get(candidate)
    if start is None or (call is None and measure.calls > 1):
        return None
    return start.median + (measure.calls - 1) * (call.median if call else 0.0)


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
    sizes, seconds = np.log(np.array(used)).T
    slope, at_one = np.polyfit(sizes, seconds, 1)
    freedom = len(used) - 2
    squares = ((seconds - at_one - slope * sizes) ** 2).sum() / freedom
    error = math.sqrt(squares / ((sizes - sizes.mean()) ** 2).sum())
    half = student((1 + CONFIDENCE) / 2, freedom) * error
    return Growth(
        candidate=candidate,
        exponent=float(slope),
        low=float(slope) - half,
        high=float(slope) + half,
        confidence=CONFIDENCE,
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
    inner = {rounded(low * (high / low) ** (at / n)) for at in range(1, n)}
    sizes = [low, *sorted(inner - {low, high}), high]
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
    found = [by_size(points, measure) for measure in measures(points)]
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
        return _between(border.low, border.high, min(max(at, 0.25), 0.75))
    low, high = max(
        (border.low, min(inner)), (max(inner), border.high), key=lambda gap: gap[1] / gap[0]
    )
    return _between(low, high, 0.5) if high / low > 1 + goal / 2 else None


def _between(low: int, high: int, at: float) -> int | None:
    """Return a size at a share of the way in the logarithm; ``None``: none lies between."""
    size = rounded(low * (high / low) ** at)
    return min(max(size, low + 1), high - 1) if high - low > 1 else None


def _hiding(points: Sequence[SizePoint], found: Sequence[BySize]) -> Iterator[int]:
    """Yield the middles of gaps whose ends agree, but could hold two borders."""
    ordered = sorted((one for one in points if one.answer is not None), key=lambda one: one.size)
    for one in found:
        measure = Measure(one.reading, one.calls)
        gaps = []
        for before, after in pairwise(ordered):
            width = math.log(after.size / before.size)
            room = _STEEPEST * width - _least_distance(before, after, measure)
            if width > math.log(2) and room > 0:
                gaps.append((room, rounded(math.sqrt(before.size * after.size))))
        yield from (size for _, size in sorted(gaps, reverse=True))


def _least_distance(before: SizePoint, after: SizePoint, measure: Measure) -> float:
    """Return by how much the log-ratios of the cheapest and the next one change there at least.

    To cross 0 and come back. Infinite where two sizes do not agree on the cheapest.
    """
    first, second = _costs(before, measure), _costs(after, measure)
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


def _costs(point: SizePoint, measure: Measure) -> dict[str, float]:
    names = point.answer.candidates if point.answer is not None else []
    known = {name: cost_s(point, name, measure) for name in names}
    return {name: cost for name, cost in known.items() if cost}
