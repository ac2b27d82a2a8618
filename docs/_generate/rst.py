"""The few pieces of reStructuredText that the pages are made of."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LEVELS = "=-~"


def heading(text: str, level: int = 0, label: str | None = None) -> str:
    """Return a heading (0 is the page's title), with a label to link to if one is given."""
    anchor = f".. _{label}:\n\n" if label else ""
    return f"{anchor}{text}\n{_LEVELS[level] * len(text)}\n\n"


def toctree(pages: Iterable[str], depth: int = 1, *, hidden: bool = False) -> str:
    """Return a table of contents over pages named from here; hidden, it is in the sidebar alone."""
    body = "\n".join(pages)
    seen = "   :hidden:\n" if hidden else ""
    return f".. toctree::\n   :maxdepth: {depth}\n{seen}\n{indent(body)}\n"


def indent(text: str) -> str:
    """Return the text as the body of what stands before it."""
    return textwrap.indent(text, "   ")


def literal(text: str) -> str:
    """Return inline code."""
    return f"``{text}``"


def code(text: str, language: str = "python") -> str:
    """Return a block of code."""
    return f".. code-block:: {language}\n\n{indent(text)}\n\n"


def plain(text: str) -> str:
    """Return text in which nothing but `code` is markup."""
    return re.sub(r"([\\*|_])", r"\\\1", text)


def table(heading: Sequence[str], rows: Iterable[Sequence[str]], name: str = "") -> str:
    """Return a table; ``name`` is its class for the style sheet."""
    lines = [".. list-table::", "   :header-rows: 1", *([f"   :class: {name}"] if name else []), ""]
    for row in (heading, *rows):
        lines += [f"   {'  -' if at else '* -'} {cell}".rstrip() for at, cell in enumerate(row)]
    return "\n".join(lines) + "\n\n"


def definition(term: str, body: str) -> str:
    """Return one entry of a definition list."""
    return f"{term}\n{indent(body or '–')}\n\n"


def title_of(docstring: str) -> str:
    """Return the first line of a docstring as a title."""
    return docstring.partition("\n")[0].rstrip(".")


def body_of(docstring: str) -> str:
    """Return what follows the first line of a docstring."""
    return docstring.partition("\n")[2].strip()
