"""Where and how ``coldwarm doctor`` writes a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import DoctorReport
    from coldwarm.runner.doctor.reading import Watched

_WIDEST = 80
"""Columns of a terminal that are used."""


@dataclass(frozen=True)
class Written:
    """How a report is written."""

    form: str
    out: Path | None
    perfetto: Path | None
    verbose: bool

    def write(
        self,
        report: DoctorReport,
        watched: Watched | None,
        begin_s: float | None = None,
        *,
        later: bool = False,
    ) -> None:
        """Write it; ``watched`` is what it is from, without which there are no times of day.

        ``later``: JSON is left out, as more will be known.

        Raises:
            UsageError: a timeline is asked for, and the report alone is there.
        """
        from coldwarm.errors import UsageError
        from coldwarm.report.doctor.perfetto import trace
        from coldwarm.report.page.doctor import page_of_doctor

        if self.form == "text" or (self.form == "json" and not later):
            self.print(report)
        if self.form != "html" and self.perfetto is None:
            return
        if watched is None:
            raise UsageError("the journals beside the report are gone, and with them its timeline")
        begin_s = watched.begin_s if begin_s is None else begin_s
        if self.perfetto is not None:
            self.perfetto.write_text(trace(watched.processes, begin_s), encoding="utf-8")
        if self.form == "html":
            page = page_of_doctor(report, watched.processes, begin_s)
            (self.out or Path("doctor.html")).write_text(page, encoding="utf-8")

    def print(self, report: DoctorReport) -> None:
        """Write what the doctor says, as text or JSON."""
        from io import StringIO

        from coldwarm.contracts.files import codec
        from coldwarm.report.doctor.terminal import shown
        from coldwarm.report.doctor.told import told
        from coldwarm.report.shown import PlainConsole, json_text

        if self.form == "json":
            text = json_text(codec.encode(told(report)).decode())
        else:
            if self.out is None:
                console = PlainConsole(stderr=True)
                console.width = min(_WIDEST, console.width)
                console.print(shown(report, everything=self.verbose))
                return
            written = StringIO()  # without the colours that a terminal would get
            PlainConsole(file=written, width=_WIDEST).print(shown(report, everything=self.verbose))
            text = written.getvalue()
        if self.out is None:
            click.echo(text, nl=False, err=True)
        else:
            self.out.write_text(text, encoding="utf-8")
