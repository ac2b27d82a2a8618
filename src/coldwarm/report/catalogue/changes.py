"""Verdicts that changed, and results that were not judged again, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table

from coldwarm.report.sentences import words
from coldwarm.report.shown import line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rich.console import RenderableType

    from coldwarm.contracts.catalogue import ChangedVerdict, NotJudged


def table(
    found: Sequence[ChangedVerdict],
    kind: str,
    of_a: Collection[str] = (),
    of_b: Collection[str] = (),
) -> RenderableType:
    """Return the verdicts that changed, or that none did.

    Args:
        found: Those that changed.
        kind: Pattern or claim.
        of_a: Those of which the verdict of A is not proved.
        of_b: The same of B.
    """
    if not found:
        return line("no verdict changed")
    made = Table(box=None, pad_edge=False, header_style="bold")
    for name in (kind, "A", "B"):
        made.add_column(name)
    for one in found:
        sides = ((one.a, one.name in of_a), (one.b, one.name in of_b))
        said = [f"{told(text)}, not proved" if left else told(text) for text, left in sides]
        made.add_row(line(one.name), *map(line, said))
    return made


def told(verdict: str | None) -> str:
    """Return a verdict in words."""
    return "absent" if verdict is None else verdict.replace("_", " ")


def not_judged(found: Sequence[NotJudged], side: str = "") -> RenderableType:
    """Return what was not judged again, a line each; ``side``: of two, of which."""
    of_side = f" of {side}" if side else ""
    return Group(
        *(line(f"{one.name}{of_side}: not judged again, {words(one.reason)}") for one in found)
    )
