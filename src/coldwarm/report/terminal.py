"""A document on a terminal of 80 columns or more; no meaning is in colour alone."""

from __future__ import annotations

from functools import singledispatch
from io import StringIO
from textwrap import shorten
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table as Grid
from rich.text import Text

from coldwarm.errors import printable
from coldwarm.report.document import (
    Block,
    Heading,
    Notice,
    Paragraph,
    Piece,
    Shell,
    Table,
    Terms,
    pieces,
)
from coldwarm.report.shown import PlainConsole, lines
from coldwarm.report.units import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from coldwarm.report.document import Cell, Document, Line

_WIDEST = 100
_SPREAD = len(">999%")
_LABEL = len("few processes")
_GAP = 2
_WIDEST_GAP = 3
_MOST_LABELS = 3
"""Columns of texts that stand side by side."""
_VERDICT_STYLES = {
    "faster": "bold green",
    "less": "bold green",
    "slower": "bold red",
    "more": "bold red",
    "same": "bold",
    "undecided": "yellow",
    "cheapest": "bold green",
    "failed": "bold red",
    "agrees": "green",
    "disagrees": "bold red",
}
"""Styles of verdicts, the same in every view; beside the words, never in their place."""
_STYLES = {"": "", "strong": "bold", "dim": "dim", "name": "bold", "failure": "bold red"}
_ROLES = {"failure": "bold red", "legend": "dim", "note": "dim"}


def show(document: Document, console: Console) -> None:
    """Print a document, no wider than ``_WIDEST``."""
    before: Block | None = None
    for block in document.blocks:
        if isinstance(block, Notice):
            continue
        if not _close(before, block):
            console.print()
        for one in _laid_out(block, min(console.width, _WIDEST)):
            _print(console, one)
        before = block


def _close(before: Block | None, block: Block) -> bool:
    """Say whether no empty line stands between two blocks."""
    tight = isinstance(block, Paragraph) and isinstance(before, (Paragraph, Shell))
    return before is None or isinstance(before, Heading) or isinstance(block, Shell) or tight


def text(document: Document, width: int) -> str:
    """Return a document as plain text of so many columns."""
    console = PlainConsole(file=StringIO(), width=width, record=True, color_system=None)
    show(document, console)
    return "\n".join(one.rstrip() for one in console.export_text().splitlines())


def _print(console: Console, block: Grid | Text) -> None:
    if isinstance(block, Text) and block.no_wrap:
        # To be copied as one line. From a picture nothing is, and it would end at its edge.
        picture = console.record and console.is_terminal
        if picture:
            block.no_wrap = False
        console.print(block, soft_wrap=not picture)
        return
    console.print(block, width=min(console.width, _WIDEST), soft_wrap=False)


@singledispatch
def _laid_out(block: Block, width: int) -> list[Grid | Text]:
    """Return what a block is on a terminal of so many characters."""
    raise TypeError(type(block), width)


@_laid_out.register
def _(block: Heading, width: int) -> list[Grid | Text]:
    text = printable(block.text)
    within = block.level == 2  # noqa: PLR2004 - as the model says
    return [Text(text if within else f"━━ {text} ".ljust(width, "━"), "bold")]


@_laid_out.register
def _(block: Paragraph, _width: int) -> list[Grid | Text]:
    return [_line(block.text, _STYLES[block.style])]


@_laid_out.register
def _(block: Shell, _width: int) -> list[Grid | Text]:
    return [Text(f"  {printable(block.line)}", no_wrap=True)]


@_laid_out.register
def _(block: Terms, width: int) -> list[Grid | Text]:
    style = _ROLES.get(block.role, "")
    grid = Grid.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(min_width=_LABEL, no_wrap=True, style=style)
    grid.add_column(style=style, overflow="fold")
    room = width - max(_LABEL, *(len(term) for term, _ in block.items)) - 2 * _GAP
    for term, meaning in block.items:
        told = _line(meaning)
        if block.role == "brief":
            told = Text(shorten(told.plain, room, placeholder=" …"))
        grid.add_row(Text(printable(term), "bold" if block.role == "answer" else ""), told)
    # Of a legend the terms themselves say what it is.
    titled = block.title and block.role != "legend"
    return [*([Text(printable(block.title), "bold")] if titled else []), grid]


@_laid_out.register
def _(block: Table, width: int) -> list[Grid | Text]:
    if block.labels == len(block.columns) > _MOST_LABELS:
        return [one for part in block.parts for row in part.rows for one in _told(block, row)]
    headings = _headings(block.columns)
    parts = [[_row(block, row, " ") for row in part.rows] for part in block.parts]
    if sum(_sizes(headings, parts)) + len(headings) - 1 > width:
        parts = [[_row(block, row, "\n") for row in part.rows] for part in block.parts]
    sizes = _sizes(headings, parts)
    room = width - sum(sizes)
    gap = max(1, min(_WIDEST_GAP, room // max(1, len(headings) - 1)))
    if not any(part.title for part in block.parts):
        return [_grid(block, gap, sizes, headings, [row for part in parts for row in part])]
    found: list[Grid | Text] = [_grid(block, gap, sizes, headings, [])]
    for part, rows in zip(block.parts, parts, strict=True):
        found += [_line(part.title, "italic")] if part.title else []
        found.append(_grid(block, gap, sizes, None, rows))
    return found


def _told(table: Table, row: Sequence[Cell]) -> Iterator[Grid | Text]:
    """Yield a row of many texts: its name and its last one, and the others below it."""
    name, *others, last = row
    yield _line((Piece(name.text, style="name"), Piece(f"  {last.text}")))
    said = [printable(name.below)] if name.below else []
    said += [
        f"{heading}: {printable(cell.text)}"
        for heading, cell in zip(table.columns[1:], others, strict=False)
        if cell.text != MISSING
    ]
    grid = Grid.grid(padding=(0, 0, 0, _GAP), pad_edge=True)
    grid.add_row(Text("; ".join(said), "dim"))
    if said:
        yield grid


def _headings(columns: Sequence[str]) -> list[Text]:
    """Return headings whose last lines stand on one line."""
    most = max(one.strip("\n").count("\n") for one in columns)
    first, *others = (one.strip("\n") for one in columns)
    return [lines(first), *(lines("\n" * (most - one.count("\n")) + one) for one in others)]


def _row(table: Table, row: Sequence[Cell], between: str) -> list[Text]:
    """Lay out a row; ``between`` stands between the words of a second line."""
    indented = any(part.title for part in table.parts)
    return [
        _label(cell, " " if indented and not place else "")
        if place < table.labels
        else _figure(cell, between)
        for place, cell in enumerate(row)
    ]


def _label(cell: Cell, before: str) -> Text:
    style = _VERDICT_STYLES.get(cell.verdict, "") or _STYLES[cell.style]
    return Text(before + printable(cell.text), style if not before else "")


def _figure(cell: Cell, between: str) -> Text:
    """Lay out a figure so that values and intervals line up down a column."""
    if cell.text == MISSING:
        return Text(MISSING, "dim")
    # Of an interval, the words stay together.
    below = cell.below.replace(" ", between) if cell.verdict else cell.below
    style = _STYLES[cell.style] if below else _VERDICT_STYLES.get(cell.verdict, _STYLES[cell.style])
    text = lines(cell.text, style)
    if cell.spread:
        text = Text.assemble(text, (f" {cell.spread:>{_SPREAD}}", "dim"))
    if below:
        under = _VERDICT_STYLES.get(cell.verdict, "dim" if not cell.verdict else "")
        text = Text.assemble(text, "\n", lines(below, under))
    return text


def _sizes(headings: Sequence[Text], parts: Sequence[Sequence[Sequence[Text]]]) -> list[int]:
    """Return the characters that each column needs."""
    rows = [row for part in parts for row in part]
    return [
        max(
            len(line)
            for cell in (heading, *(row[place] for row in rows if place < len(row)))
            for line in cell.plain.split("\n")
        )
        for place, heading in enumerate(headings)
    ]


def _grid(
    table: Table,
    gap: int,
    sizes: Sequence[int],
    headings: Sequence[Text] | None,
    rows: Iterable[Sequence[Text]],
) -> Grid:
    """Return one part of a table; ``headings`` where it has any."""
    grid = Grid(
        box=box.SIMPLE_HEAD,
        padding=(0, 0, 0, gap - 1),  # the box itself gives the last column of a gap
        pad_edge=False,
        show_edge=False,
        show_header=headings is not None,
        header_style="bold",
    )
    whole = len(table.parts) > 1 or bool(table.parts[0].title)
    for place, size in enumerate(sizes):
        heading = headings[place] if headings else ""
        width = size if whole else None
        if place < table.labels:
            grid.add_column(heading, overflow="fold", vertical="top", width=width)
        else:
            grid.add_column(heading, justify="right", no_wrap=True, width=width)
    for row in rows:
        grid.add_row(*row)
    return grid


def _line(line: Line, style: str = "") -> Text:
    """Return a line, its verdicts in their colours."""
    parts = [
        (printable(piece.text), _VERDICT_STYLES.get(piece.verdict, _STYLES.get(piece.style, "")))
        for piece in pieces(line)
    ]
    return Text.assemble(*parts, style=style)
