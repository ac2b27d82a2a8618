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
from coldwarm.report.sentences import with_advice
from coldwarm.report.words import MODE_NAMES
from coldwarm.stats.sweeps import MODES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    yield from terms(_unknown(one), "care")
    if not one.complete:
        yield Paragraph(_UNFINISHED, "dim")


def title(report: SweepReport, one: Slice) -> str:
    """Return what is swept, and from where to where."""
    low, high = units.count(report.low), units.count(report.high)
    fixed = "".join(f", {name} = {value}" for name, value in one.fixed.items())
    return f"The cheapest by {report.name}, from {low} to {high}{fixed}"


_UNFINISHED = (
    "Borders could be narrower: the same command goes on, with a longer --time-budget or without."
)


def _unknown(one: Slice) -> Iterator[tuple[str, str]]:
    """Yield why nothing is told of candidates, and at which sizes, each reason once."""
    found: dict[tuple[str, str], list[str]] = {}
    for point in one.points:
        answer = point.answer
        if answer is None:
            continue
        held = {name: why for lead in answer.leads for name, why in lead.held_back.items()}
        for name, why in {**held, **answer.not_measured}.items():
            found.setdefault((name, with_advice(why)), []).append(units.count(point.size))
    for (name, said), sizes in found.items():
        yield f"{name}, at {', '.join(sizes)}", said


def _cheapest(report: SweepReport, of: Slice) -> Iterator[Block]:
    """Yield a table for warm calls, and one for each state of the caches."""
    for reading, found in groupby(of.by_size, key=lambda one: one.reading):
        rows: list[tuple[Cell, ...]] = []
        for one in found:
            calls = "" if one.calls is None else units.count(one.calls)
            rows += [
                (Cell("" if place else calls), *cells) for place, cells in enumerate(_rows(one))
            ]
        if reading is None:
            rows = [cells[1:] for cells in rows]
            yield Heading("A warm call")
        else:
            yield Heading(f"A process with {MODE_NAMES[MODES[reading]]}")
        columns = (report.name, "cheapest", "changes at about")
        yield table(columns if reading is None else ("calls", *columns), rows, labels=3)


def _rows(one: BySize) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each range of sizes, and for each gap in which the cheapest changes."""
    borders = {border.low: border for border in one.borders}
    told = [each for each in one.ranges if each.cheapest is not None or not _within(each, borders)]
    for place, each in enumerate(told):
        ends = place + 1 == len(told)
        yield row(_sizes(each, first=not place, last=ends), _names(each), "")
        border = borders.get(each.to_size)
        if border is not None:
            between = f"{units.count(border.low)} to {units.count(border.high)}"
            both = f"{border.below} or {border.above}"
            about = units.count(round(border.estimate))
            yield row(Cell(between, style="dim"), Cell(both, verdict="undecided"), about)


def _within(one: SizeRange, borders: dict[int, Border]) -> bool:
    """Say whether an open range lies within a border."""
    return any(each.low < one.from_size and one.to_size < each.high for each in borders.values())


def _names(one: SizeRange) -> Cell:
    if one.cheapest is not None:
        return Cell(one.cheapest, verdict="cheapest")
    return Cell(" or ".join(one.among), verdict="undecided")


def _sizes(one: SizeRange, *, first: bool, last: bool) -> str:
    low, high = units.count(one.from_size), units.count(one.to_size)
    if low == high and not first and not last:
        return low
    if first and last:
        return f"{low} to {high}"
    if first:
        return f"up to {high}"
    return f"from {low}" if last else f"{low} to {high}"


def _calls(report: SweepReport, of: Slice) -> Iterator[Table]:
    """Yield what a warm call costs at each size, in as many tables as fit the candidates."""
    growth = {one.candidate: one for one in of.growth}
    for at in range(0, len(of.candidates), _COLUMNS):
        names = of.candidates[at : at + _COLUMNS]
        rows = [_costs(point, names) for point in of.points]
        powers = (_power(growth.get(one), report.name) for one in names)
        rows.append([Cell("grows as", style="dim"), *powers])
        yield table([report.name, *names], rows)


def _costs(point: SizePoint, names: Sequence[str]) -> list[Cell]:
    known = {one: point.call[one] for one in names if one in point.call}
    best = min((one.median for one in point.call.values()), default=None)
    cells = [Cell(units.count(point.size))]
    for one in names:
        if (call := known.get(one)) is None:
            cells.append(Cell())
            continue
        is_best = call.median == best
        cells.append(
            Cell(units.duration(call.median), around(call), verdict="cheapest" if is_best else "")
        )
    return cells


def _power(growth: Growth | None, swept: str) -> Cell:
    if growth is None or growth.exponent is None or growth.low is None or growth.high is None:
        return Cell()
    exponent, low, high = (
        f"{round(one, 2) + 0.0:.2f}" for one in (growth.exponent, growth.low, growth.high)
    )
    return Cell(f"{swept}^{exponent}", below=f"{low} … {high}", style="dim")
