"""Where and how ``coldwarm doctor`` writes a report."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.errors import StorageError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import DoctorReport
    from coldwarm.report.shown import PlainConsole
    from coldwarm.runner.doctor.reading import Watched

_WIDEST = 80
"""Columns of a terminal that are used."""
_PAGE = Path("doctor.html")
"""Where a page goes for which no file is named."""


@dataclass(frozen=True)
class Written:
    """How a report is written."""

    form: str
    out: Path | None
    perfetto: Path | None
    verbose: bool

    def refuse(self, program: Sequence[Path] = (), scripts: Sequence[Path] = ()) -> None:
        """Refuse places where no file can be made, before a program is run in vain.

        ``program`` is where the program lies, which nothing is written over; ``scripts`` is what
        ``--warmup`` writes.

        Raises:
            UsageError: a place is a folder, lies in none, cannot be written to, is the program's,
                or is asked for twice.
        """
        page = _PAGE if self.form == "html" else None
        asked = [("--out", self.out or page), ("--perfetto", self.perfetto)]
        taken = dict.fromkeys((one.resolve() for one in program), "")
        for option, path in [*asked, *(("--warmup", one) for one in scripts)]:
            if path is None:
                continue
            _refuse(option, path)
            other = taken.setdefault(path.resolve(), option)
            if not other:
                raise UsageError(f"{option}: {path} is the program itself; name another file")
            if other != option:
                raise UsageError(f"{option} and {other} both name {path}; name two files")

    def write(
        self,
        report: DoctorReport,
        watched: Watched | None,
        begin_s: float | None = None,
        *,
        later: bool = False,
    ) -> None:
        """Write it; ``watched`` is what it is from, without which there are no times of day.

        ``later``: JSON is left out, as more will be known. Where a file cannot be written, what is
        known is printed.

        Raises:
            UsageError: a timeline is asked for, and the report alone is there.
            StorageError: a file cannot be written.
        """
        from coldwarm.report.doctor.perfetto import trace

        if self.form == "text" or (self.form == "json" and not later):
            self.print(report)
        if self.form == "html":
            self.page(report, watched, begin_s)
        if self.perfetto is not None:
            is_told = self.form != "json" or not later
            with self._or_printed(report, self.perfetto, is_told=is_told):
                known = _known(watched)
                text = trace(known.processes, known.begin_s if begin_s is None else begin_s)
                self.perfetto.write_text(text, encoding="utf-8")

    def add_fix(self, report: DoctorReport, watched: Watched, begin_s: float) -> None:
        """Write what a change has brought where the report was written to.

        Raises:
            StorageError: a file cannot be written.
        """
        from coldwarm.report.doctor.summary import lines
        from coldwarm.report.shown import PlainConsole

        if self.form != "json" and report.fix is not None:
            console = PlainConsole(stderr=True, width=_WIDEST)
            for line in lines(report.fix):
                console.print(line)
        if self.form == "html":
            self.page(report, watched, begin_s)
        elif self.form == "json" or self.out is not None:
            self.print(report)

    def page(self, report: DoctorReport, watched: Watched | None, begin_s: float | None) -> None:
        """Write the page.

        Raises:
            UsageError: the report alone is there, or what makes pages is not installed.
            StorageError: the file cannot be written.
        """
        from coldwarm.report.page.doctor import page_of_doctor

        path = self.out or _PAGE
        with self._or_printed(report, path):
            known = _known(watched)
            begin_s = known.begin_s if begin_s is None else begin_s
            path.write_text(page_of_doctor(report, known.processes, begin_s), encoding="utf-8")

    def print(self, report: DoctorReport) -> None:
        """Write what the doctor says, as text or JSON.

        Raises:
            StorageError: the file cannot be written.
        """
        from io import StringIO

        from coldwarm.contracts import codec
        from coldwarm.report.doctor.summary import told
        from coldwarm.report.shown import PlainConsole, json_text

        if self.form == "json":
            text = json_text(codec.encode(told(report)).decode())
        else:
            if self.out is None:
                console = PlainConsole(stderr=True)
                console.width = min(_WIDEST, console.width)
                self._show(report, console)
                return
            written = StringIO()  # without the colours that a terminal would get
            self._show(report, PlainConsole(file=written, width=_WIDEST))
            text = written.getvalue()
        if self.out is None:
            click.echo(text, nl=False, err=True)
        else:
            with self._or_printed(report, self.out):
                self.out.write_text(text, encoding="utf-8")

    def _show(self, report: DoctorReport, console: PlainConsole) -> None:
        from coldwarm.report.doctor.summary import lines
        from coldwarm.report.doctor.terminal import shown

        console.print(shown(report, everything=self.verbose))
        if report.fix is not None:
            console.print()
            for line in lines(report.fix):
                console.print(line)

    @contextmanager
    def _or_printed(
        self, report: DoctorReport, path: Path, *, is_told: bool = False
    ) -> Iterator[None]:
        """Print the report where a file cannot be made and it is not told yet: nothing is lost."""
        try:
            yield
        except (OSError, UsageError) as error:
            if not is_told:
                form = "json" if self.form == "json" else "text"
                replace(self, form=form, out=None).print(report)
            if isinstance(error, UsageError):
                raise
            reason = error.strerror or str(error)
            raise StorageError(f"{path} cannot be written: {reason}; name another file") from error


def _refuse(option: str, path: Path) -> None:
    if path.is_dir():
        raise UsageError(f"{option} {path} is a folder; name a file in it")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{option}: no file can be made at {path}; make its folder")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise UsageError(f"{option}: {path} cannot be written; name another file")


def _known(watched: Watched | None) -> Watched:
    if watched is None:
        raise UsageError("the journals beside the report are gone, and with them its timeline")
    return watched
