"""Tables of verdicts on patterns and claims: what a page, a README and a terminal show of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.report.document import Cell, Document, Heading, Paragraph, row, table, terms

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from coldwarm.contracts.catalogue import ChangedVerdict
    from coldwarm.report.document import Block

VERDICTS = {
    "as_stated": ("as stated", "green"),
    "confirmed": ("confirmed", "green"),
    "opposite": ("opposite", "bold red"),
    "refuted": ("refuted", "bold red"),
    "same": ("no difference", "yellow"),
    "depends": ("depends", "yellow"),
    "undecided": ("undecided", "yellow"),
    "inconclusive": ("inconclusive", "yellow"),
    "outdated": ("outdated", "yellow"),
    "transferred": ("transferred", "dim"),
    "withdrawn": ("rule withdrawn", "dim"),
    "not_tested": ("not tested", "dim"),
    "failed": ("failed", "bold red"),
}
"""Name of each verdict, and its style."""
_MOST_NAMES = 3
"""Names of patterns or claims that only one side has, in a terminal."""


@dataclass(frozen=True)
class VerdictRow:
    """One pattern or claim."""

    name: str
    """Its id."""
    title: str
    """Its statement; empty where this version does not know it."""
    cells: tuple[str, ...]
    """Cells of the table between the statement and the verdict."""
    verdict: str
    """Its code."""
    said: str
    """The verdict in words."""
    why: str
    """Empty where the figures say it."""


@dataclass(frozen=True)
class VerdictTable:
    """All that is told of the patterns or the claims of one result."""

    kind: str
    title: str
    about: tuple[tuple[str, str], ...]
    summary: str
    headings: tuple[str, ...]
    rows: tuple[VerdictRow, ...]

    @property
    def document(self) -> Document:
        """A heading, how often each verdict was given, a table, and where it is from."""
        rows = (
            row(
                Cell(one.name, below=one.title, style="name"),
                *one.cells,
                Cell(one.said, below=one.why),
            )
            for one in self.rows
        )
        blocks: tuple[Block, ...] = (
            Heading(self.title, 0),
            Paragraph(self.summary),
            table(self.headings, rows, labels=len(self.headings)),
            *terms(self.about),
        )
        return Document(self.title, blocks)


def changes(
    found: Sequence[ChangedVerdict],
    kind: str,
    of_a: Collection[str] = (),
    of_b: Collection[str] = (),
) -> list[Block]:
    """Return the verdicts that changed, or that none did, and what only one side has.

    Args:
        found: Those that changed.
        kind: Pattern or claim.
        of_a: Those of which the verdict of A is not proved.
        of_b: The same of B.
    """
    rows = []
    for one in found:
        if one.a is None or one.b is None:
            continue
        sides = ((one.a, one.name in of_a), (one.b, one.name in of_b))
        said = [VERDICTS[verdict][0] + (", not proved" if left else "") for verdict, left in sides]
        rows.append((one.name, *said))
    changed = table((kind, "A", "B"), rows, labels=3) if rows else Paragraph("no verdict changed")
    only = (
        ("only in A", [one.name for one in found if one.b is None]),
        ("only in B", [one.name for one in found if one.a is None]),
    )
    return [changed, *terms([(side, _some(names)) for side, names in only if names])]


def _some(names: Sequence[str]) -> str:
    """Return how many there are, and the first of them."""
    more = ["…"] if len(names) > _MOST_NAMES else []
    return f"{len(names)}: {', '.join([*names[:_MOST_NAMES], *more])}"
