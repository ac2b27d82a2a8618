"""A document as Markdown, for a README or the summary of a CI job."""

from __future__ import annotations

import re
from functools import singledispatch
from typing import TYPE_CHECKING

from coldwarm.errors import printable
from coldwarm.report.document import (
    Block,
    Figure,
    Folded,
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

_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|~#&!$"})
_LINKED = re.compile(r"(?<=\w):(?=//)|(?<=\bwww)\.|(?<=\w)@(?=\w)", re.IGNORECASE)
"""Signs that make a link of text without any markup."""
_WITHIN = re.compile(r"(?<=\w)\\_(?=\w)")
_BEGINS = re.compile(r"^(\s*)(?:([-+](?=\s|$)|=)|(\d+)([.)])(?=\s|$))")
"""Characters that begin a list, or underline a heading, at the beginning of a line."""


def text(document: Document) -> str:
    """Return a document as Markdown."""
    left_out = (Notice, Figure, Folded)
    written = [_block(one) for one in document.blocks if not isinstance(one, left_out)]
    return "\n\n".join(written) + "\n"


@singledispatch
def _block(block: Block) -> str:
    raise TypeError(type(block))


@_block.register
def _(block: Heading) -> str:
    marks = {0: "## ", 1: "### "}.get(block.level)
    return f"{marks}{_label(block.text)}" if marks else f"{_line(block.text)}:"


@_block.register
def _(block: Paragraph) -> str:
    strong = block.style in {"strong", "failure"}
    return f"**{_line(block.text)}**" if strong else _line(block.text)


@_block.register
def _(block: Shell) -> str:
    """Return a line for the shell as code, in a fence that nothing in it can end."""
    marks = "".join(one if one == "`" else " " for one in block.line)
    fence = "`" * max(3, 1 + max(map(len, marks.split()), default=0))
    return f"{fence}sh\n{block.line}\n{fence}"


@_block.register
def _(block: Terms) -> str:
    if block.role == "failure":
        return "\n\n".join(f"**{_label(term)}**: {_line(said)}" for term, said in block.items)
    strong = "" if block.role == "answer" else "**"
    listed, last = [], ""
    for term, meaning in block.items:
        last = term or last
        listed.append(f"- {strong}{_label(last)}{strong}: {_line(meaning)}")
    title = [f"{_line(block.title)}:\n"] if block.title else []
    return "\n".join([*title, *listed])


@_block.register
def _(block: Table) -> str:
    titled = any(part.title for part in block.parts)
    columns = [block.of_parts, *block.columns] if titled else block.columns
    labels = block.labels + titled
    rule = [":--" if place < labels else "--:" for place in range(len(columns))]
    rows = [
        [*([_label(part.title)] if titled else []), *map(_cell, row)]
        for part in block.parts
        for row in part.rows
    ]
    headings = [_lines(one.strip("\n")) for one in columns]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (headings, rule, *rows))


def _cell(cell: Cell) -> str:
    text = _code(cell.text) if cell.style == "name" else _lines(cell.text)
    written = " ".join(filter(None, (text, _escaped(cell.spread))))
    note = f" ({_escaped(cell.note)})" if cell.note else ""
    return f"{written}<br>{_lines(cell.below)}{note}" if cell.below else f"{written}{note}"


def _lines(written: str) -> str:
    return "<br>".join(map(_escaped, written.split("\n")))


def _line(line: Line) -> str:
    """Return a line, its verdicts in bold."""
    return "".join(
        f"**{_escaped(piece.text)}**"
        if piece.verdict
        else _code(piece.text)
        if piece.style == "name"
        else _escaped(piece.text)
        for piece in pieces(line)
    )


def _code(name: str) -> str:
    """Write a name as code, in which Markdown reads no markup but its own end."""
    return f"`{printable(name).replace('`', '').replace('|', '')}`"


def _label(text: str) -> str:
    """Return a name as text: an underscore within a word is none of Markdown's."""
    return _WITHIN.sub("_", _escaped(text))


def _escaped(text: str) -> str:
    """Return foreign text as one line in which Markdown finds no markup, HTML or link."""
    plain = _LINKED.sub(lambda sign: f"\\{sign[0]}", printable(text).translate(_SPECIAL))
    return _BEGINS.sub(r"\1\3\\\2\4", plain)
