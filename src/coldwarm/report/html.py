"""A document as a fragment of HTML, for a notebook's cell or a page."""

from __future__ import annotations

import html
from functools import singledispatch
from typing import TYPE_CHECKING

from coldwarm.errors import printable
from coldwarm.report.document import (
    Block,
    Heading,
    Notice,
    Paragraph,
    Shell,
    Table,
    Terms,
    pieces,
)

if TYPE_CHECKING:
    from coldwarm.report.document import Cell, Document, Line

# Each is read on a white page and on a dark one.
_COLOURS = {
    "faster": "#1f8a3d",
    "less": "#1f8a3d",
    "slower": "#e0353f",
    "more": "#e0353f",
    "failed": "#e0353f",
    "undecided": "#a06b00",
}
_FOLDED = {"care", "brief", "legend"}


def fragment(document: Document) -> str:
    """Return a document without scripts or styles of its own; caveats and legend are folded."""
    return "".join(_block(one) for one in document.blocks if not isinstance(one, Notice))


@singledispatch
def _block(block: Block) -> str:
    raise TypeError(type(block))


@_block.register
def _(block: Heading) -> str:
    level = block.level + 2
    return f"<h{level}>{_escaped(block.text)}</h{level}>"


@_block.register
def _(block: Paragraph) -> str:
    strong = block.style in {"strong", "failure"}
    return f"<p><b>{_line(block.text)}</b></p>" if strong else f"<p>{_line(block.text)}</p>"


@_block.register
def _(block: Shell) -> str:
    return f"<pre>{_escaped(block.line)}</pre>"


@_block.register
def _(block: Terms) -> str:
    if block.role == "answer":
        style = "style='text-align:left'"
        rows = (
            f"<tr><th {style}>{_escaped(term)}</th><td {style}>{_line(said)}</td></tr>"
            for term, said in block.items
        )
        return f"<table><tbody>{''.join(rows)}</tbody></table>"
    items = (f"<li><b>{_escaped(term)}</b> {_line(said)}</li>" for term, said in block.items)
    listed = f"<ul>{''.join(items)}</ul>"
    title = _escaped(block.title)
    if title and block.role in _FOLDED:
        return f"<details><summary>{title}</summary>{listed}</details>"
    return f"<p>{title}</p>{listed}" if title else listed


@_block.register
def _(block: Table) -> str:
    head = "".join(f"<th>{_lines(one)}</th>" for one in block.columns)
    rows = []
    for part in block.parts:
        if part.title:
            span = f"colspan='{len(block.columns)}' style='text-align:left'"
            rows.append(f"<tr><th {span}>{_escaped(part.title)}</th></tr>")
        for row in part.rows:
            labels = "".join(f"<th>{_cell(one)}</th>" for one in row[: block.labels])
            figures = "".join(f"<td>{_cell(one)}</td>" for one in row[block.labels :])
            rows.append(f"<tr>{labels}{figures}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cell(cell: Cell) -> str:
    if not cell.below:
        written = _given(cell.text, cell.verdict)
        return " ".join(filter(None, (written, _escaped(cell.spread))))
    figure = " ".join(filter(None, (_lines(cell.text), _escaped(cell.spread))))
    return f"{figure}<br>{_given(cell.below, cell.verdict)}"


def _line(line: Line) -> str:
    return "".join(
        f"<code>{_escaped(piece.text)}</code>"
        if piece.style == "name"
        else _given(piece.text, piece.verdict)
        for piece in pieces(line)
    )


def _given(text: str, verdict: str) -> str:
    """Return text, and a verdict in its colour."""
    if not verdict:
        return _lines(text)
    colour = _COLOURS.get(verdict)
    style = f" style='color:{colour}'" if colour else ""
    return f"<b{style}>{_lines(text)}</b>"


def _lines(written: str) -> str:
    return "<br>".join(map(_escaped, written.strip("\n").split("\n")))


def _escaped(text: str) -> str:
    """Return foreign text as one line in which HTML finds no markup."""
    return html.escape(printable(text))
