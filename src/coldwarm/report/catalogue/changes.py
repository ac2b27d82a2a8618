"""Verdicts that changed, and results that were not judged again, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table

from coldwarm.report.reasons import words
from coldwarm.report.shown import line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from coldwarm.contracts.catalogue import ChangedVerdict, NotJudged


def table(found: Sequence[ChangedVerdict], kind: str) -> RenderableType:
    """Return the verdicts that changed, or that none did; ``kind``: pattern or claim."""
    if not found:
        return line("no verdict changed")
    made = Table(box=None, pad_edge=False, header_style="bold")
    for name in (kind, "A", "B"):
        made.add_column(name)
    for one in found:
        made.add_row(line(one.name), *(line(told(text)) for text in (one.a, one.b)))
    return made


def told(verdict: str | None) -> str:
    """Return a verdict in words."""
    return "absent" if verdict is None else verdict.replace("_", " ")


def not_judged(found: Sequence[NotJudged]) -> RenderableType:
    """Return what was not judged again, a line each."""
    return Group(*(line(f"{one.name}: not judged again, {words(one.reason)}") for one in found))
