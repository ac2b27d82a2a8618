"""``with coldwarm.doctor() as d:``: what the doctor says of a block of code in its own process."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from coldwarm.clock import Clock
from coldwarm.contracts import codec
from coldwarm.doctor import watch
from coldwarm.doctor.doctor_page import page_of_doctor
from coldwarm.doctor.findings_document import document, in_words
from coldwarm.doctor.record.journal import FIELDS, LOST
from coldwarm.doctor.record.recorder import BlockReader
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace
from coldwarm.errors import StorageError, UsageError
from coldwarm.report import html, terminal
from coldwarm.report.shown import PlainConsole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from coldwarm.contracts.doctor import DoctorReport
    from coldwarm.report.document import Document


_WIDTH = 80
_SUFFIXES = (".json", ".html", ".txt")


class DoctorBlock:
    """Watch of a block: ``with coldwarm.doctor() as d:``.

    The report is of this process while the block lasts, in other threads too; other processes are
    not in it. An error in the block goes through it, and the report is there. Blocks may lie in
    each other, and in a program that runs under ``coldwarm doctor``.

    Attributes:
        report: What the doctor says, as ``coldwarm doctor --format json`` writes it.
    """

    def __init__(self) -> None:
        """Start with nothing."""
        self._block: BlockReader | None = None
        self._ended = False
        self._started_at = ""
        self._said: tuple[DoctorReport, ProcessTrace] | None = None
        self._program = ""

    def __enter__(self) -> Self:
        """Follow what happens from now on.

        Raises:
            UsageError: it was used for a block before.
        """
        if self._block is not None:
            text = "this doctor has had its block; make another: with coldwarm.doctor() as d:"
            raise UsageError(text)
        self._started_at = Clock().date()
        self._block = BlockReader()
        self._block.begin()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Follow no more; an error goes on."""
        if self._block is not None and not self._ended:
            self._ended = True
            self._block.end(error)

    @property
    def report(self) -> DoctorReport:
        """Report of the doctor on the block.

        Raises:
            UsageError: the block has not ended.
        """
        return self._read()[0]

    def show(self, *, everything: bool = False) -> None:
        """Print what the doctor says; ``everything``: all findings and all lines.

        Raises:
            UsageError: the block has not ended.
        """
        terminal.show(self._document(everything=everything), PlainConsole(width=_WIDTH))

    def save(self, path: str | Path) -> None:
        """Write the report to a file, by its name as JSON, as a page (``.html``) or as text.

        Raises:
            UsageError: the name ends with none of these, the block has not ended, or what makes
                pages is not installed.
            StorageError: the file cannot be written.
        """
        file = Path(path)
        if file.suffix not in _SUFFIXES:
            raise UsageError(f"{file}: the name must end with .json, .html or .txt")
        report, trace = self._read()
        if file.suffix == ".json":
            text = codec.encode(in_words(report)).decode()
        elif file.suffix == ".html":
            text = page_of_doctor(report, [trace], trace.rows[0].at_s)
        else:
            text = f"{self}\n"
        try:
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise StorageError(f"{file} cannot be written: {error.strerror}") from error

    def ran(self, program: str) -> None:
        """Tell which file was run, where a cell has two: ``program`` is the inner one."""
        self._program = program

    def _read(self) -> tuple[DoctorReport, ProcessTrace]:
        if self._block is None or not self._ended:
            raise UsageError("the report is there when the block of coldwarm.doctor() has ended")
        if self._said is None:
            counts = _difference(*self._block.counts)
            counts[LOST : LOST + 1] = [0]  # of the files of a journal: a block has its lines here
            rows = [row for row in self._block.rows if _happened(row, counts)]
            texts = {**watch.texts(rows), **_texts_in_memory(rows)}
            named = _names_of_cells()
            if named is not None:
                # What was run comes last: the cell around it has the same name.
                ordered = sorted(texts, key=lambda path: path == self._program)
                texts = {named(path): texts[path] for path in ordered}
                rows = [_renamed(row, named) for row in rows]
                if self._program:
                    rows[0] = {**rows[0], "argv": [named(self._program)]}
            trace = ProcessTrace.of(rows, counts, SourceFiles(texts))
            watched = watch.Watched([trace], trace.sources)
            self._said = watch.report(watched, None, self._started_at), trace
        return self._said

    def __repr__(self) -> str:
        """Return what the doctor says, or how far it is."""
        if self._block is None:
            return "coldwarm.doctor(), before its block"
        if not self._ended:
            return "coldwarm.doctor(), inside of its block"
        return terminal.text(self._document(), _WIDTH)

    def _repr_html_(self) -> str | None:
        """Return the same for a notebook."""
        return html.fragment(self._document()) if self._ended else None

    def _document(self, *, everything: bool = False) -> Document:
        more = ".show(everything=True) shows them"
        return document(self.report, everything=everything, more=more)


def _names_of_cells() -> Callable[[str], str] | None:
    """Return what names a file as IPython does, a cell by its number; ``None``: it is not there."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None:
        return None

    def named(path: str) -> str:
        found = shell.compile.format_code_name(path)
        return path if found is None else " ".join(found)

    return named


def _difference(before: bytes, after: bytes) -> list[int]:
    """Return the counts of a block: those at its end, less those when it began."""
    place = FIELDS * np.dtype("q").itemsize
    size = -(-max(len(before), len(after)) // place) * place
    begun, ended = (np.frombuffer(one.ljust(size, b"\0"), "q") for one in (before, after))
    counts: list[int] = (ended - begun).tolist()
    return counts


def _happened(row: Mapping[str, Any], counts: Sequence[int]) -> bool:
    """Say whether a row is of the block: a line at which nothing was counted is not."""
    return row["kind"] != "place" or any(counts[row["slot"] : row["slot"] + FIELDS])


def _texts_in_memory(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the source of what has no file, such as a cell of a notebook."""
    names = {str(place[0]) for row in rows for place in row.get("stack") or ()}
    lines = {name: linecache.getlines(name) for name in names if not Path(name).exists()}
    return {name: "".join(found) for name, found in lines.items() if found}


def _renamed(value: Any, named: Callable[[str], str]) -> Any:  # noqa: ANN401 - what a row holds
    """Return what a row holds with other names of files."""
    if isinstance(value, str):
        return named(value)
    if isinstance(value, dict):
        return {key: _renamed(one, named) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_renamed(one, named) for one in value]
    return value
