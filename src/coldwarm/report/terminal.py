"""The final tables, for a terminal of 80 columns or more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from coldwarm.report.notes import superscript
from coldwarm.report.units import MISSING
from coldwarm.report.view import WARM, Cell, Group, Row, View, suite_view
from coldwarm.report.words import (
    COLD_MODES,
    MAIN_LEGEND,
    MODES,
    PARTS,
    PARTS_LEGEND,
    WIDE_PARTS,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from coldwarm.contracts.result import CaseResult, SuiteResult

WIDE_FROM = 100
_VALUE = 7
_FIGURE = len("8.27× slower")
_STYLES = {"faster": "green", "slower": "yellow", "same": "", "undecided": "italic"}


def render(suite: SuiteResult, cases: Sequence[CaseResult], console: Console) -> None:
    """Print the tables, the notes, what was not measured, and what the columns mean."""
    view = suite_view(suite, cases)
    for group in view.groups:
        _print_group(group, console)
    _print_notes(view, console)


def _print_group(group: Group, console: Console) -> None:
    against = f", compared with {group.baseline}" if group.baseline else ""
    console.print(Text.assemble((group.title, "bold"), against))
    console.print(Text(group.layout, style="dim"))
    wide = console.width >= WIDE_FROM
    if group.rows:
        console.print(_main_table(group, wide=wide))
    for failure in group.failures:
        console.print(Text(f"failed: {failure}", style="bold red"))
    if any(row.parts for row in group.rows):
        console.print()
        console.print(_parts_table(group, wide=wide))
    console.print()


def _main_table(group: Group, *, wide: bool) -> Table:
    """One row for each candidate; under each figure its verdict against the baseline."""
    table = _table("candidate")
    bare = set() if wide else {"first_ever"}
    for mode in group.modes:
        heading = "warm call" if mode == WARM else MODES[mode]
        text = heading.replace(" ", "\n") if mode in bare else heading
        table.add_column(_lines(text, _VALUE if mode in bare else _FIGURE), no_wrap=True)
    table.add_column("peak\nmemory", justify="right", no_wrap=True)
    for row in group.rows:
        cells = [_figure(row.figures[mode], bare=mode in bare) for mode in group.modes]
        table.add_row(_name(row), *cells, _marked(row.memory))
    return table


def _lines(text: str, width: int) -> str:
    """Push each line to the right of a column of this width."""
    return "\n".join(line.rjust(width) for line in text.split("\n"))


def _figure(cell: Cell, *, bare: bool) -> Text:
    """Lay out a figure so that values and intervals line up down a column.

    A bare one has neither interval nor verdict: at 80 columns there is no room for all.
    """
    marks = superscript(cell.marks)
    if cell.text == MISSING:
        return Text(MISSING.rjust(_VALUE) + marks, style="dim")
    if bare:
        return Text(cell.text.rjust(_VALUE)).append(marks, "dim")
    text = Text.assemble(cell.text.rjust(_VALUE), " ", (cell.spread + marks, "dim"))
    if cell.verdict:
        style = _STYLES.get(cell.verdict.split()[-1], "")
        text.append("\n").append(cell.verdict.rjust(_FIGURE), style)
    return text


def _marked(cell: Cell) -> Text:
    return Text(cell.text + superscript(cell.marks), style="dim" if cell.marks else "")


def _name(row: Row) -> Text:
    return Text.assemble((row.candidate, "bold"), superscript(row.marks))


def _parts_table(group: Group, *, wide: bool) -> Table:
    """Where the first results went, a section for each cold cache mode."""
    keys = [key for key in PARTS if wide or key not in WIDE_PARTS]
    table = _table("medians")
    for key in keys:
        table.add_column(PARTS[key], justify="right", no_wrap=True, min_width=_VALUE)
    for mode in COLD_MODES:
        rows = [row for row in group.rows if mode in row.parts]
        if rows:
            table.add_row(Text(MODES[mode], style="italic"))
        for row in rows:
            cells = [row.parts[mode][key] for key in keys]
            texts = [Text(cell, style="dim" if cell == MISSING else "") for cell in cells]
            table.add_row(Text(f" {row.candidate}"), *texts)
    return table


def _table(heading: str) -> Table:
    """Make a table whose first column alone may wrap."""
    table = Table(
        box=box.SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False, header_style="bold"
    )
    table.add_column(heading, overflow="fold")
    return table


def _print_notes(view: View, console: Console) -> None:
    if view.notes:
        console.print(_listing([(superscript((number,)), text) for number, text in view.notes]))
        console.print()
    for line in view.unavailable:
        console.print(Text(line, style="dim"))
    for term, meaning in (*MAIN_LEGEND, *PARTS_LEGEND):
        console.print(Text.assemble((term, "bold dim"), (f": {meaning}", "dim")))
    console.print()
    for line in view.closing:
        console.print(Text(line))


def _listing(items: Sequence[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    for mark, text in items:
        table.add_row(Text(mark), Text(text))
    return table
