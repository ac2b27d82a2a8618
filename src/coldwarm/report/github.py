"""A document as commands of a workflow: what GitHub shows as annotations of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.errors import visible
from coldwarm.report.document import Notice, Paragraph, Terms, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.report.document import Block, Document

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def text(document: Document) -> str:
    """Return a line for each notice, answer and caveat, and the closing line."""
    found = (line for block in document.blocks for line in _lines(block, document.title))
    return "".join(f"{line}\n" for line in found)


def _lines(block: Block, title: str) -> Iterator[str]:
    if isinstance(block, Notice):
        yield annotation(block.level, block.title, block.text, block.file, block.line)
    elif isinstance(block, Terms) and block.role in {"answer", "care", "brief"}:
        label = ""
        for term, meaning in block.items:
            label = term or label
            yield annotation("notice", f"coldwarm: {label}", plain(meaning))
    elif isinstance(block, Paragraph) and block.style == "strong":
        yield annotation("notice", title, plain(block.text))


def annotation(
    level: str, title: str, message: str, file: str | None = None, line: int | None = None
) -> str:
    """Return one command of a workflow, with what would end its parts escaped."""
    place = f"file={visible(file.translate(_PROPERTY))}," if file else ""
    place += f"line={line}," if line else ""
    title = visible(title.translate(_PROPERTY))
    return f"::{level} {place}title={title}::{visible(message.translate(_DATA))}"
