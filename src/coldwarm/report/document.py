"""The document of a result: what is said of it, in blocks that every format renders.

A feature makes one document of a result. The renderers beside this module make of it what a
terminal, Markdown, a browser or a workflow's log shows, and they alone escape text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from coldwarm.report.units import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coldwarm.report.charts.chart import Chart

_Role: TypeAlias = Literal["", "answer", "failure", "care", "brief", "legend", "note"]
"""Role of a list of terms: ``care`` are caveats, ``brief`` those that a terminal shows a line of
each, ``legend`` explains the tables."""
_Style: TypeAlias = Literal["", "strong", "dim", "name", "failure"]
"""How text is set apart; ``name`` is a name of the user's own, set as code where there is code."""

_Tone: TypeAlias = Literal[
    "",
    "faster",
    "slower",
    "less",
    "more",
    "same",
    "undecided",
    "cheapest",
    "failed",
    "agrees",
    "disagrees",
]
"""Verdict that a text gives, by which it has its colour; none for most."""


class Piece(NamedTuple):
    """Part of a line: its text, and the verdict that it gives or else nothing."""

    text: str
    verdict: _Tone = ""
    style: _Style = ""


Line: TypeAlias = str | tuple[Piece, ...]
"""One line of text, plain or in pieces."""


class Cell(NamedTuple):
    """A cell of a table."""

    text: str = MISSING
    spread: str = ""
    """Half the width of a figure's interval, behind the figure."""
    below: str = ""
    """A second line, such as a verdict in words."""
    verdict: str = ""
    """The verdict that the second line gives, or the text where there is none."""
    note: str = ""
    """More of the second line, where there is room."""
    style: _Style = ""
    value: float | None = None
    """The number that a column is sorted by."""


class Rows(NamedTuple):
    """Rows of a table that belong together."""

    title: str
    """Empty where the table has but one part."""
    rows: tuple[tuple[Cell, ...], ...]


class Heading(NamedTuple):
    """A heading: of a document (0), of a subject (1), or within it (2)."""

    text: str
    level: Literal[0, 1, 2] = 2


class Paragraph(NamedTuple):
    """A line or more of text."""

    text: Line
    style: _Style = ""


class Terms(NamedTuple):
    """Terms and what is said of each; an empty term stands for the one before."""

    items: tuple[tuple[str, Line], ...]
    role: _Role = ""
    title: str = ""


class Table(NamedTuple):
    """A table: its first columns hold labels, the others figures."""

    columns: tuple[str, ...]
    """Headings, of one line or two."""
    parts: tuple[Rows, ...]
    labels: int = 1
    of_parts: str = ""
    """Heading over the titles of the parts, where a column holds them."""


class Shell(NamedTuple):
    """A line to be copied into a shell."""

    line: str


class Notice(NamedTuple):
    """A remark beside the code, at a file of the user's where it is known: in a workflow's log."""

    level: Literal["error", "warning", "notice"]
    title: str
    text: str
    file: str | None = None
    line: int | None = None
    rule: str = ""
    """The id of what it is an instance of, where it is one of many."""
    page: str = ""
    """The address at which the rule is explained."""


class Figure(NamedTuple):
    """A chart, drawn for the room that it has, and where its numbers are from."""

    chart: Chart
    source: str = ""
    half: bool = False
    """Two of them stand side by side."""


class Folded(NamedTuple):
    """Details that are closed at first: the page has them, a printed report leaves them out."""

    title: str
    blocks: tuple[Block, ...]


Block: TypeAlias = Heading | Paragraph | Terms | Table | Shell | Notice | Figure | Folded


@dataclass(frozen=True)
class Document:
    """All that is said of a result."""

    title: str
    """The command whose result it is."""
    blocks: tuple[Block, ...]


def name(text: str) -> Cell:
    """Return the cell of a name."""
    return Cell(text, style="name")


def row(*cells: Cell | str) -> tuple[Cell, ...]:
    """Return a row of cells, of which some are plain text."""
    return tuple(Cell(one) if isinstance(one, str) else one for one in cells)


def table(
    columns: Iterable[str], rows: Iterable[Iterable[Cell | str]], *, labels: int = 1
) -> Table:
    """Return a table of one part."""
    return Table(tuple(columns), (Rows("", tuple(row(*one) for one in rows)),), labels)


def terms(items: Iterable[tuple[str, Line]], role: _Role = "", title: str = "") -> Iterator[Terms]:
    """Yield a list of terms, unless it is empty."""
    if listed := tuple(items):
        yield Terms(listed, role, title)


def plain(line: Line) -> str:
    """Return a line as text alone."""
    return line if isinstance(line, str) else "".join(piece.text for piece in line)


def pieces(line: Line) -> tuple[Piece, ...]:
    """Return a line in pieces."""
    return (Piece(line),) if isinstance(line, str) else line


def command(line: str) -> Piece:
    """Return a command within a line."""
    return Piece(line, style="name")
