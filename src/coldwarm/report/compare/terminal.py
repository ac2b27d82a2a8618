"""A comparison of two results as a table, for a terminal of 80 columns or more."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rich.text import Text

from coldwarm.report import units
from coldwarm.report.compare import compiled, counts
from coldwarm.report.compare.words import (
    HEADINGS,
    failing,
    legend,
    remarks,
    row,
    shown,
    sides,
    summary,
)
from coldwarm.report.shown import line
from coldwarm.report.terminal import (
    VERDICT_STYLES,
    WIDEST,
    airy_table,
    listing,
    print_blocks,
    title,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from coldwarm.contracts.comparison import ComparedMetric, RunComparison

_STYLES = {
    **VERDICT_STYLES,
    "less": VERDICT_STYLES["faster"],
    "more": VERDICT_STYLES["slower"],
}
_TERM = len("not compared")


def render(comparison: RunComparison, console: Console, *, everything: bool) -> None:
    """Print differences and open questions, or every figure; then what to know, and a summary."""
    width = min(console.width, WIDEST)
    show = partial(print_blocks, console)
    show(title("B against A", width))
    show(*(line(f"{label}  {text}", "dim") for label, text in sides(comparison)))
    grouped = shown(comparison, everything=everything)
    if grouped:
        show(Text(), *_tables(grouped, width))
    counted_ones = counts.shown(comparison.counts, everything=everything)
    if counted_ones:
        show(Text(), compiled.laid_out(counted_ones, ("A", "B"), width))
        show(listing(counts.unknown(counted_ones), width=_TERM))
    show(Text(), listing(remarks(comparison), width=_TERM))
    show(Text(), listing(legend(comparison), "dim", _TERM))
    show(Text(), Text(summary(comparison, everything=everything), style="bold"))
    if failed := failing(comparison):
        show(Text(failed, style="bold red"))


def _tables(grouped: dict[str, list[ComparedMetric]], width: int) -> list[Table | Text]:
    """Lay out the figures; the name of a case, which may be long, stands above its own."""
    rows = [row(item) for items in grouped.values() for item in items]
    columns = zip(HEADINGS, *rows, strict=True)
    widths = [max(map(len, column)) for column in columns]
    widths[0] += 1
    gap = max(1, min(3, (width - sum(widths)) // (len(widths) - 1)))
    blocks: list[Table | Text] = [_columns(widths, gap, header=True)]
    for case, items in grouped.items():
        table = _columns(widths, gap, header=False)
        for item in items:
            table.add_row(*(_cell(place, text, item) for place, text in enumerate(row(item))))
        blocks += [line(case, "italic"), table]
    return blocks


def _columns(widths: Sequence[int], gap: int, *, header: bool) -> Table:
    """Return an empty table of these widths: the first column to the left, others right."""
    table = airy_table(gap, header=header)
    for place, (heading, size) in enumerate(zip(HEADINGS, widths, strict=True)):
        table.add_column(heading, justify="right" if place else "left", width=size, no_wrap=True)
    return table


def _cell(place: int, text: str, item: ComparedMetric) -> Text:
    if place == 0:
        return line(f" {text}")
    if HEADINGS[place] != "verdict":
        return Text(text, style="dim" if text == units.MISSING else "")
    return Text(text, style=_STYLES.get(item.verdict, ""))
