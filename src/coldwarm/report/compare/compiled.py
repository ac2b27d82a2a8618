"""Counts of what was compiled as a table for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from coldwarm.report import terminal
from coldwarm.report.compare import counts
from coldwarm.report.shown import line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from coldwarm.contracts.summary import CountVerdict

_STYLES = {"more": "red", "less": "green", "same": "bold", "undecided": "dim italic"}


def laid_out(verdicts: Sequence[CountVerdict], sides: tuple[str, str], width: int) -> Table:
    """Lay them out; ``sides`` names what each is held against, and what is held."""
    rows = []
    for one in verdicts:
        case, name, before, now, _ = counts.cells(one)
        style = _STYLES[one.verdict] if one.fails_beyond is None else "bold red"
        verdict = Text(counts.verdict(one, "\n"), style)
        rows.append([line(case, "bold"), line(name), Text(before), Text(now), verdict])
    return terminal.table(["", "", *sides, "verdict"], rows, width)
