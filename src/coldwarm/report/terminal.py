"""The final tables, for a terminal of 80 columns or more; no meaning is in colour alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from coldwarm.errors import printable
from coldwarm.report import filled, scenarios
from coldwarm.report.answers import CHEAPEST, TITLE
from coldwarm.report.shown import line, lines
from coldwarm.report.units import MISSING
from coldwarm.report.view import suite_view
from coldwarm.report.words import COLD_MODES, MADE_TITLE, MODE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from coldwarm.contracts.answer import Answer
    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.report.answers import Line
    from coldwarm.report.filled import Needed
    from coldwarm.report.scenarios import Loops
    from coldwarm.report.view import Cell, Group

WIDEST = 100
_SPREAD = len(">999%")
_LABEL = len("few processes")
_WIDEST_GAP = 3
VERDICT_STYLES = {
    "faster": "bold green",
    "slower": "bold red",
    "same": "bold",
    "undecided": "yellow",
    CHEAPEST: "bold green",
}
"""Of verdicts, the same in every view; beside the words, never in their place."""


def render(  # noqa: PLR0913 - what stands where, each by name
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    console: Console,
    *,
    answers: Sequence[Answer] = (),
    ahead: Sequence[Table | Text] = (),
    more: Sequence[Table | Text] = (),
    care: Sequence[tuple[str, str]] = (),
    verbose: bool = False,
) -> None:
    """Print the tables, what to read with care, and a legend, and at the end the answer.

    ``answers`` are of its groups, ``ahead`` leads, ``more`` follows the tables, ``care`` is read
    with care too. ``verbose``: also the parts of the first results.
    """
    view = suite_view(suite, cases, answers, verbose=verbose)
    width = min(console.width, WIDEST)
    show = partial(print_blocks, console)
    show(*ahead)
    for group in view.groups:
        show(*_group(group, width, verbose=verbose), Text())
    if view.loops.rows:
        show(Text(scenarios.TITLE, style="bold"), _shares(view.loops, width), Text())
    show(*more)
    if remarks := (*view.care, *care):
        show(Text("Read with care", style="bold"), listing(remarks), Text())
    if view.unavailable:
        out = [("not measured", why) for why in view.unavailable]
        show(listing(out, style="dim"), Text())
    if view.legend:
        show(listing(view.legend, style="dim"), Text())
    show(*map(line, view.closing))
    if told := [(group.title, group.answer) for group in view.groups if group.answer]:
        show(Text(), *answered(told, width))


def print_blocks(console: Console, *blocks: Table | Text) -> None:
    """Print blocks, none wider than ``WIDEST``."""
    for block in blocks:
        if isinstance(block, Text) and block.no_wrap:
            # To be copied as one line. From a picture nothing is, and it would end at its edge.
            picture = console.record and console.is_terminal
            if picture:
                block.no_wrap = False
            console.print(block, soft_wrap=not picture)
            continue
        console.print(block, width=min(console.width, WIDEST), soft_wrap=False)


def title(text: str, width: int) -> Text:
    """Lay out a title over the whole width."""
    return line(f"━━ {text} ".ljust(width, "━"), "bold")


def _group(group: Group, width: int, *, verbose: bool) -> list[Table | Text]:
    blocks: list[Table | Text] = [title(group.title, width), line(group.about, "dim"), Text()]
    if group.rows:
        blocks.append(_main_table(group, width))
    blocks += [line(f"failed: {failure}", "bold red") for failure in group.failures]
    if verbose and any(row.parts for row in group.rows):
        blocks += [Text(), Text(group.parts_title, style="bold")]
        blocks.append(_parts_table(group, width))
    if group.made:
        blocks += [Text(), Text(MADE_TITLE, style="bold"), listing(group.made)]
    return blocks + filled_by(group.filled, group.by_default)


def answered(told: Sequence[tuple[str, Sequence[Line]]], width: int) -> list[Table | Text]:
    """Lay out the answers under their workloads, where there are several."""
    blocks: list[Table | Text] = [title(TITLE, width)]
    for name, found in told:
        blocks += [line(name, "bold")] if len(told) > 1 else []
        blocks.append(said(found))
    return blocks


def said(found: Sequence[Line]) -> Table:
    """Lay out one answer: a line for each thing that is told, verdicts in their colours."""
    grid = _grid(_LABEL)
    for one in found:
        pieces = [
            (printable(piece.text), VERDICT_STYLES.get(piece.verdict, "")) for piece in one.pieces
        ]
        grid.add_row(Text(one.label, "bold"), Text.assemble(*pieces))
    return grid


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
    memory = [] if group.rows[0].memory is None else ["peak\nmemory"]
    both = any(group.headings[mode][0] for mode in group.modes)
    modes = ["\n".join(group.headings[mode][0 if both else 1 :]) for mode in group.modes]
    headings = ["candidate", *modes, *memory]
    rows = _main_rows(group)
    if _taken(headings, rows) + len(headings) - 1 > width:
        rows = _main_rows(group, between="\n")
    return table(headings, rows, width)


def _main_rows(group: Group, between: str = " ") -> list[list[Text]]:
    """Lay out the candidates; ``between`` stands between a ratio and its direction."""
    return [
        [
            line(row.candidate, "bold"),
            *(_figure(row.figures[mode], between) for mode in group.modes),
            *([] if row.memory is None else [_plain(row.memory)]),
        ]
        for row in group.rows
    ]


def _figure(cell: Cell, between: str) -> Text:
    """Lay out a figure so that values and intervals line up down a column."""
    if cell.text == MISSING:
        return _plain(MISSING)
    text = Text.assemble(cell.text, (f" {cell.spread:>{_SPREAD}}", "dim"))
    if cell.verdict:
        text.append(f"\n{cell.verdict.replace(' ', between)}", VERDICT_STYLES.get(cell.kind, ""))
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
    room = width - _taken(headings, rows)
    return max(1, min(_WIDEST_GAP, room // max(1, len(headings) - 1)))


def _taken(headings: Sequence[str], rows: Sequence[Sequence[Text]]) -> int:
    """Return the characters that the columns need, without what is between them."""
    taken = 0
    for place, heading in enumerate(headings):
        cells = [heading, *(row[place].plain for row in rows if place < len(row))]
        taken += max(len(part) for cell in cells for part in cell.split("\n"))
    return taken


def listing(items: Iterable[tuple[str, str]], style: str = "", width: int = _LABEL) -> Table:
    """Lay out terms and what is said of them, lines indented under the first."""
    grid = _grid(width, style)
    for term, meaning in items:
        grid.add_row(line(term), line(meaning))
    return grid


def _grid(width: int, style: str = "") -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(min_width=width, no_wrap=True, style=style)
    grid.add_column(style=style, overflow="fold")
    return grid
