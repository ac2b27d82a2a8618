"""The final tables, for a terminal of 80 columns or more; no meaning is in colour alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from coldwarm.report import filled, scenarios
from coldwarm.report.shown import line, lines
from coldwarm.report.units import MISSING
from coldwarm.report.view import suite_view
from coldwarm.report.words import COLD_MODES, MADE_TITLE, MODE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.report.filled import Needed
    from coldwarm.report.scenarios import Loops
    from coldwarm.report.view import Cell, Group

WIDEST = 100
_SPREAD = len(">999%")
_LABEL = len("few processes")
_WIDEST_GAP = 3
_STYLES = {"faster": "green", "slower": "dim", "same": "dim", "undecided": "dim italic"}


def render(
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    console: Console,
    more: Sequence[Table | Text] = (),
) -> None:
    """Print the tables, what to read with care, what was not measured, and a legend.

    ``more`` follows the tables.
    """
    view = suite_view(suite, cases)
    width = min(console.width, WIDEST)
    show = partial(print_blocks, console)
    for group in view.groups:
        show(*_group(group, width), Text())
    if view.loops.rows:
        show(Text(scenarios.TITLE, style="bold"), _shares(view.loops, width), Text())
    show(*more)
    if view.care:
        heading = "Read with care, in all tables" if len(view.groups) > 1 else "Read with care"
        show(Text(heading, style="bold"), listing(view.care), Text())
    if view.unavailable:
        out = [("not measured", why) for why in view.unavailable]
        show(listing(out, style="dim"), Text())
    show(listing(view.legend, style="dim"), Text())
    show(*map(line, view.closing))


def print_blocks(console: Console, *blocks: Table | Text) -> None:
    """Print blocks, none wider than ``WIDEST``."""
    for block in blocks:
        if isinstance(block, Text) and block.no_wrap:  # to be copied as one line
            console.print(block, soft_wrap=True)
            continue
        console.print(block, width=min(console.width, WIDEST), soft_wrap=False)


def title(text: str, width: int) -> Text:
    """Lay out a title over the whole width."""
    return line(f"━━ {text} ".ljust(width, "━"), "bold")


def _group(group: Group, width: int) -> list[Table | Text]:
    blocks: list[Table | Text] = [
        title(group.title, width),
        line(group.about, "dim"),
        Text(),
    ]
    if group.rows:
        blocks.append(_main_table(group, width))
    blocks += [line(f"failed: {failure}", "bold red") for failure in group.failures]
    if any(row.parts for row in group.rows):
        blocks += [Text(), Text(group.parts_title, style="bold")]
        blocks.append(_parts_table(group, width))
    if group.made:
        blocks += [Text(), Text(MADE_TITLE, style="bold"), listing(group.made)]
    blocks += filled_by(group.filled, group.by_default)
    if group.care:
        blocks += [Text(), Text("Read with care", style="bold"), listing(group.care)]
    return blocks


def filled_by(
    needed: Sequence[Needed], by_default: Sequence[tuple[str, str]]
) -> list[Table | Text]:
    """Lay out what filled caches need, each line for the shell on a line of its own."""
    if not needed:
        return []
    blocks: list[Table | Text] = [Text(), Text(filled.TITLE, style="bold")]
    for one in needed:
        blocks.append(Text(": ".join(filter(None, (one.candidates, one.code)))))
        if one.line:
            blocks.append(Text(f"  {one.line}", no_wrap=True))
    if by_default:
        blocks.append(Text(f"{filled.DEFAULT}:"))
        blocks.append(listing([(f"  {name}", figure) for name, figure in by_default]))
    return blocks


def _main_table(group: Group, width: int) -> Table:
    """One row for each candidate; under each figure its verdict against the baseline."""
    headings = ["\n".join(group.headings[mode]) for mode in group.modes]
    rows = [
        [
            line(row.candidate, "bold"),
            *(_figure(row.figures[mode]) for mode in group.modes),
            *([] if row.memory is None else [_plain(row.memory)]),
        ]
        for row in group.rows
    ]
    memory = [] if group.rows[0].memory is None else ["peak\nmemory"]
    return table(["candidate", *headings, *memory], rows, width)


def _figure(cell: Cell) -> Text:
    """Lay out a figure so that values and intervals line up down a column."""
    if cell.text == MISSING:
        return _plain(MISSING)
    text = Text.assemble(cell.text, (f" {cell.spread:>{_SPREAD}}", "dim"))
    if cell.verdict:
        text.append(f"\n{cell.verdict}", _STYLES.get(cell.verdict.split()[-1], "dim"))
    return text


def _plain(text: str) -> Text:
    return Text(text, style="dim" if text == MISSING else "")


def _parts_table(group: Group, width: int) -> Table:
    """Where the first results went, a section for each cold cache mode."""
    rows: list[list[Text]] = []
    for mode in COLD_MODES:
        measured = [row for row in group.rows if mode in row.parts]
        if measured:
            rows.append([Text(MODE_NAMES[mode], style="italic")])
        rows += [[line(f" {row.candidate}"), *map(_plain, row.parts[mode])] for row in measured]
    return table(["", *group.parts.values()], rows, width)


def _shares(loops: Loops, width: int) -> Table:
    """What of each scenario's total went into compiling, a section for each scenario."""
    rows: list[list[Text]] = []
    for scenario, candidates in loops.rows.items():
        rows.append([line(scenario, "italic")])
        rows += [[line(f" {name}"), *map(_plain, figures)] for name, figures in candidates]
    return table(["", *loops.headings], rows, width)


def table(headings: Sequence[str], rows: Sequence[Sequence[Text]], width: int) -> Table:
    """Lay out a table: labels to the left, figures to the right, as airy as there is room."""
    table = airy_table(_gap(headings, rows, width))
    first, *others = headings
    table.add_column(lines(first), overflow="fold", vertical="top")
    for heading in others:
        table.add_column(lines(heading), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def airy_table(gap: int, *, header: bool = True) -> Table:
    """Return a table without columns, of which two will be so many characters apart."""
    return Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 0, 0, gap - 1),  # the box itself gives the last column of a gap
        pad_edge=False,
        show_edge=False,
        show_header=header,
        header_style="bold",
    )


def _gap(headings: Sequence[str], rows: Sequence[Sequence[Text]], width: int) -> int:
    taken = 0
    for place, heading in enumerate(headings):
        cells = [heading, *(row[place].plain for row in rows if place < len(row))]
        taken += max(len(part) for cell in cells for part in cell.split("\n"))
    return max(1, min(_WIDEST_GAP, (width - taken) // max(1, len(headings) - 1)))


def listing(items: Iterable[tuple[str, str]], style: str = "", width: int = _LABEL) -> Table:
    """Lay out terms and what is said of them, lines indented under the first."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(min_width=width, no_wrap=True, style=style)
    table.add_column(style=style, overflow="fold")
    for term, meaning in items:
        table.add_row(line(term), line(meaning))
    return table
