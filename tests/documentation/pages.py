"""The pages that readers get, and the commands that stand in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
_MADE = {"reference", "_build", "out", ".venv"}
"""Folders of pages that are made from the source, or by running something."""
_FENCE = re.compile(
    r"^(?P<fence>`{3,})(?P<language>[^\n]*)\n(?P<body>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL
)
_DEFINED = re.compile(r"^(?:\| )?`(?P<command>coldwarm [^`\n]+)`(?: \||\n: )", re.MULTILINE)
"""A command that a list or a table explains."""
_HEADING = re.compile(r"^#+ ", re.MULTILINE)
PROGRAMS = frozenset(
    {
        *("./start-the-server", ".venv/bin/pip", "_COLDWARM_COMPLETE=fish_source", "again/bin/pip"),
        *("asv", "cd", "coldwarm", "eval", "export", "for", "git", "grep", "hyperfine", "make"),
        *("openssl", "pip", "pipx", "pytest", "python", "tar", "uv", "uvx"),
    }
)
"""What the first word of a command is."""


@dataclass(frozen=True)
class Line:
    """A command as it stands in a page."""

    page: str
    number: int
    text: str
    """In one line, without what a comment says of it."""
    section: int = 0
    """How many headings stand before it."""

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.page}:{self.number}"


def pages() -> list[Path]:
    """Return the pages that are written by hand."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    return sorted(one for one in found if not _MADE & set(one.relative_to(ROOT).parts))


def lines(page: Path) -> Iterator[Line]:
    """Yield the commands of a page, in their order."""
    text, name = page.read_text("utf-8"), page.relative_to(ROOT).as_posix()
    found = [*_FENCE.finditer(text), *_DEFINED.finditer(text)]
    for block in sorted(found, key=lambda one: one.start()):
        section = len(_HEADING.findall(text, 0, block.start()))
        if block.re is _DEFINED:
            yield Line(name, _number(text, block.start()), block["command"], section)
            continue
        first = _number(text, block.start()) + 1
        for at, line in _of_block(block["language"].strip(), block["body"]):
            yield Line(name, first + at, line, section)


def _number(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _of_block(language: str, body: str) -> Iterator[tuple[int, str]]:
    if language == "yaml":
        for step in yaml.safe_load(body):
            if isinstance(step, dict) and "run" in step:
                yield 0, " ".join(step["run"].split())
        return
    if language not in {"", "text", "bash", "zsh", "fish", "console"}:
        return
    at, written = 0, body.split("\n")
    while at < len(written):
        begin, line = at, written[at]
        while line.endswith("\\") and at + 1 < len(written):
            at += 1
            line = line[:-1] + written[at].strip()
        at += 1
        if language in {"text", "console"}:
            if not line.startswith("$ "):
                continue
            line = line[2:]
        line = re.sub(r"(^|\s)#\s.*$", "", line).strip()
        if line.split(" ", 1)[0] in PROGRAMS:
            yield begin, line


def every() -> list[Line]:
    """Return the commands of all pages."""
    return [line for page in pages() for line in lines(page)]
