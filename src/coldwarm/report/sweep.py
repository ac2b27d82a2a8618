"""A sweep of sizes as a document: who is the cheapest at which size, and what calls cost there."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.document import (
    Cell,
    Document,
    Heading,
    Paragraph,
    Table,
    row,
    table,
    terms,
)
from coldwarm.report.headline import around
from coldwarm.report.plan_document import EXTRAPOLATED
from coldwarm.report.sentences import with_advice
from coldwarm.report.words import MODE_NAMES
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE
from coldwarm.stats.sweeps import MODES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import Summary
    from coldwarm.contracts.sweep import (
        Border,
        BySize,
        Growth,
        SizePoint,
        SizeRange,
        Slice,
        SweepReport,
    )
    from coldwarm.report.document import Block

_COLUMNS = 4
"""Candidates that stand side by side in 80 columns."""


def document(report: SweepReport) -> Document:
    """Return who is the cheapest by size, then the warm calls at each size."""
    blocks: list[Block] = []
    for one in report.slices:
        blocks += [Heading(title(report, one), 1), *blocks_of(report, one)]
    return Document("coldwarm bench --sweep", tuple(blocks))


def blocks_of(report: SweepReport, one: Slice) -> Iterator[Block]:
    """Yield what is said of a slice, without its heading."""
    yield from _cheapest(report, one)
    if any(point.call for point in one.points):
        yield Heading("Warm calls")
        yield from _calls(report, one)
    else:
        yield from _starts(report, one)
    yield from terms(_unknown(one), "care")
    if one.points:
        yield Paragraph(_SURE, "dim")
    if any(_is_of_few(call) for point in one.points for call in point.call.values()):
        yield Paragraph(_FEW, "dim")
    if not one.complete:
        yield Paragraph(_UNFINISHED, "dim")


def title(report: SweepReport, one: Slice) -> str:
    """Return what is swept, and from where to where."""
    low, high = units.count(report.low), units.count(report.high)
    fixed = "".join(f", {name} = {value}" for name, value in one.fixed.items())
    return f"The cheapest by {report.name}, from {low} to {high}{fixed}"


_SURE = (
    "At each size that was measured, this holds with 97 % for a warm call and 95 % for a process;"
    " between two sizes, nothing was measured."
)
_FEW = "In brackets: how many processes a range is of, where these are too few for an interval."
_UNFINISHED = "Not finished: with more time, more sizes would be measured."


def _unknown(one: Slice) -> Iterator[tuple[str, str]]:
    """Yield why nothing is told of candidates, and at which sizes, each reason once."""
    found: dict[tuple[str, str], list[str]] = {}
    for point in one.points:
        if point.answer is None:
            missing = {"all": point.null_reasons["answer"]}
        else:
            answer = point.answer
            held = {name: why for lead in answer.leads for name, why in lead.held_back.items()}
            few = {name: why for by in answer.by_calls for name, why in by.left_out.items()}
            missing = {**few, **held, **answer.not_measured}
        for name, why in missing.items():
            found.setdefault((name, with_advice(why)), []).append(units.count(point.size))
    for (name, said), sizes in found.items():
        yield f"{name}, at {', '.join(sizes)}", said


def _cheapest(report: SweepReport, of: Slice) -> Iterator[Block]:
    """Yield a table for warm calls, and one for each state of the caches."""
    for reading, found in groupby(of.by_size, key=lambda one: one.reading):
        rows: list[tuple[Cell, ...]] = []
        extrapolated = False
        for one in found:
            mark = "*" if one.extrapolated else ""
            extrapolated |= one.extrapolated
            calls = "" if one.calls is None else f"{units.count(one.calls)}{mark}"
            rows += [
                (Cell("" if place else calls), *cells)
                for place, cells in enumerate(_rows(one, report))
            ]
        if reading is None:
            rows = [cells[1:] for cells in rows]
            yield Heading("A warm call")
        else:
            yield Heading(f"A process with {MODE_NAMES[MODES[reading]]}")
        columns = (report.name, "cheapest", "changes at about")
        yield table(columns if reading is None else ("calls", *columns), rows, labels=3)
        if extrapolated:
            yield Paragraph(f"* {EXTRAPOLATED}", "dim")
    never = set.intersection(*(set(one.never) for one in of.by_size)) if of.by_size else set()
    said = f"{', '.join(sorted(never))}: at none of the sizes that were measured"
    yield from terms([("never", said)] if never else [])


def _rows(one: BySize, report: SweepReport) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each range of sizes, and for each gap in which the cheapest changes."""
    borders = {border.low: border for border in one.borders}
    told = [each for each in one.ranges if each.cheapest is not None or not _within(each, borders)]
    for each in told:
        yield row(_sizes(each, report), _names(each), "")
        border = borders.get(each.to_size)
        if border is not None and each.cheapest is not None:
            between = f"{units.count(border.low)} to {units.count(border.high)}"
            left = {border.below, border.above, *_among(one.ranges, border)}
            names = " or ".join(sorted(left))
            about = units.count(round(border.estimate))
            yield row(Cell(between, style="dim"), Cell(names, verdict="undecided"), about)


def _among(ranges: Sequence[SizeRange], border: Border) -> Iterator[str]:
    """Yield who may be the cheapest at a size that was measured between the ends of a border."""
    for one in ranges:
        if border.low < one.from_size and one.to_size < border.high:
            yield from one.among


def _within(one: SizeRange, borders: dict[int, Border]) -> bool:
    """Say whether an open range lies within a border."""
    return any(each.low < one.from_size and one.to_size < each.high for each in borders.values())


def _names(one: SizeRange) -> Cell:
    if one.cheapest is not None:
        return Cell(one.cheapest, verdict="cheapest")
    names = " or ".join(one.among)
    if one.same_within is not None:
        return Cell(f"{names}: the same within {100 * one.same_within:g} %", verdict="same")
    return Cell(names, verdict="undecided")


def _sizes(one: SizeRange, report: SweepReport) -> str:
    """Write from which size to which; the ends that were asked for are in the title."""
    low, high = units.count(one.from_size), units.count(one.to_size)
    if one.from_size == one.to_size:
        return low
    if one.from_size == report.low and one.to_size < report.high:
        return f"up to {high}"
    return (
        f"from {low}"
        if report.low < one.from_size and one.to_size == report.high
        else f"{low} to {high}"
    )


def _calls(report: SweepReport, of: Slice) -> Iterator[Table]:
    """Yield what a warm call costs at each size, in as many tables as fit the candidates."""
    growth = {one.candidate: one for one in of.growth}
    warm = next((one for one in of.by_size if one.reading is None), None)
    for at in range(0, len(of.candidates), _COLUMNS):
        names = of.candidates[at : at + _COLUMNS]
        rows = [
            _costs(point, point.call, names, _cheapest_at(warm, point.size)) for point in of.points
        ]
        powers = (_power(growth.get(one), report.name) for one in names)
        rows.append([Cell("grows as", style="dim"), *powers])
        yield table([report.name, *names], rows)


def _starts(report: SweepReport, of: Slice) -> Iterator[Block]:
    """Yield what a first result costs at each size, where warm calls were not measured."""
    for reading, mode in MODES.items():
        if not any(mode in point.start for point in of.points):
            continue
        yield Heading(f"First results, {MODE_NAMES[mode]}")
        found = next((one for one in of.by_size if one.reading == reading), None)
        for at in range(0, len(of.candidates), _COLUMNS):
            names = of.candidates[at : at + _COLUMNS]
            rows = [
                _costs(point, point.start.get(mode, {}), names, _cheapest_at(found, point.size))
                for point in of.points
            ]
            yield table([report.name, *names], rows)


def _cheapest_at(one: BySize | None, size: int) -> str | None:
    """Return the candidate that surely is the cheapest at a size."""
    ranges = one.ranges if one else []
    return next((each.cheapest for each in ranges if each.from_size <= size <= each.to_size), None)


def _costs(
    point: SizePoint, known: Mapping[str, Summary], names: Sequence[str], cheapest: str | None
) -> list[Cell]:
    cells = [Cell(units.count(point.size))]
    for one in names:
        seconds = known.get(one)
        if seconds is None:
            cells.append(Cell())
            continue
        verdict = "cheapest" if one == cheapest else ""
        said = units.duration(seconds.median)
        cells.append(Cell(said, below=_around(seconds), verdict=verdict))
    return cells


def _around(seconds: Summary) -> str:
    """Write the interval of a median, or the range of a few processes with their number."""
    if _is_of_few(seconds) and seconds.low is not None and seconds.high is not None:
        return f"{units.between(seconds.low, seconds.high)} ({seconds.n_processes})"
    return around(seconds)


def _is_of_few(seconds: Summary) -> bool:
    return seconds.n_processes < FEWEST_FOR_CONFIDENCE


def _power(growth: Growth | None, swept: str) -> Cell:
    if growth is None or growth.exponent is None or growth.low is None or growth.high is None:
        return Cell()
    exponent, low, high = (
        f"{round(one, 2) + 0.0:.2f}" for one in (growth.exponent, growth.low, growth.high)
    )
    return Cell(f"{swept}^{exponent}", below=f"{low} … {high}", style="dim")
