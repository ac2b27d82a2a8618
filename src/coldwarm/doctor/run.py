"""Runs a program as it would run by itself with a recorder inside, and writes what was seen."""

from __future__ import annotations

import dataclasses
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click
from click.exceptions import Exit
from msgspec.structs import replace

from coldwarm.doctor import before_after, watch
from coldwarm.doctor.findings_document import document, fix_blocks, in_words, say
from coldwarm.errors import ExitCode, StorageError, UsageError
from coldwarm.report.sentences import counted
from coldwarm.runner.user_input import command_line as masked_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.doctor import DoctorReport, Fix
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.before_after import BeforeAfterBench, ThenBench
    from coldwarm.doctor.watch import Pass, ProgramEnd, Watched
    from coldwarm.report.document import Document


_WIDTH = 80
"""Columns of a file of text."""
_WHOLE = ("json", "markdown", "github", "sarif")
"""Forms that are written once, when all is known."""
_PAGE = Path("doctor.html")
"""Where a page goes for which no file is named."""


@dataclasses.dataclass(frozen=True)
class OutputTargets:
    """How a report is written."""

    form: str
    out: Path | None
    perfetto: Path | None
    verbose: bool

    def validate(self, program: Sequence[Path] = (), scripts: Sequence[Path] = ()) -> None:
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

        ``later``: what is written once is left out, as more will be known. Where a file cannot be
        written, what is known is printed.

        Raises:
            UsageError: a timeline is asked for, and the report alone is there.
            StorageError: a file cannot be written.
        """
        from coldwarm.doctor.perfetto import perfetto_json

        if self.form == "text" or (self.form in _WHOLE and not later):
            self.print(report)
        if self.form == "html":
            self.page(report, watched, begin_s)
            if not later:
                say(f"the report is in {self.out or _PAGE}")
        if self.perfetto is not None:
            printed = self.form not in _WHOLE or not later
            with self._or_printed(report, self.perfetto, printed=printed):
                known = _known(watched)
                text = perfetto_json(known.processes, known.begin_s if begin_s is None else begin_s)
                self.perfetto.write_text(text, encoding="utf-8")

    def add_fix(self, report: DoctorReport, watched: Watched, begin_s: float) -> None:
        """Write what a change has brought where the report was written to.

        Raises:
            StorageError: a file cannot be written.
        """
        from coldwarm.report import terminal
        from coldwarm.report.document import Document
        from coldwarm.report.shown import PlainConsole, without_secrets

        if self.form not in _WHOLE and report.fix is not None:
            said = Document("coldwarm doctor", tuple(fix_blocks(report.fix)))
            terminal.show(without_secrets(said), PlainConsole(stderr=True))
        if self.form == "html":
            self.page(report, watched, begin_s)
            say(f"the report is in {self.out or _PAGE}")
        elif self.form in _WHOLE or self.out is not None:
            self.print(report)

    def page(self, report: DoctorReport, watched: Watched | None, begin_s: float | None) -> None:
        """Write the page.

        Raises:
            UsageError: the report alone is there, or what makes pages is not installed.
            StorageError: the file cannot be written.
        """
        from coldwarm.doctor.doctor_page import page_of_doctor

        path = self.out or _PAGE
        with self._or_printed(report, path):
            known = _known(watched)
            begin_s = known.begin_s if begin_s is None else begin_s
            path.write_text(page_of_doctor(report, known.processes, begin_s), encoding="utf-8")

    def compare(self, before: DoctorReport, after: DoctorReport) -> bool:
        """Write what is gone and what is new in the second report; return whether anything is new.

        Raises:
            UsageError: the form has no place for it.
            StorageError: the file cannot be written.
        """
        from coldwarm.doctor import changed_findings
        from coldwarm.report import terminal
        from coldwarm.report.shown import PlainConsole

        if self.form in {"json", "html"}:
            forms = "text, markdown, github or sarif"
            raise UsageError(f"--diff has no --format {self.form}; take {forms}")
        found = changed_findings.pairs(before, after)
        said = changed_findings.document(before, after, found)
        if self.out is not None:
            try:
                self.out.write_text(self._rendered(said), encoding="utf-8")
            except OSError as error:
                raise _not_written(self.out, error) from error
        elif self.form == "text":
            terminal.show(said, PlainConsole(stderr=True))
        else:
            click.echo(self._rendered(said), nl=False, err=True)
        return bool(changed_findings.new(found))

    def print(self, report: DoctorReport) -> None:
        """Write what the doctor says, in any form but a page.

        Raises:
            StorageError: the file cannot be written.
        """
        from coldwarm.report import terminal
        from coldwarm.report.shown import PlainConsole

        if self.out is not None:
            with self._or_printed(report, self.out):
                self.out.write_text(self._text(report), encoding="utf-8")
        elif self.form == "text":
            terminal.show(document(report, everything=self.verbose), PlainConsole(stderr=True))
        else:
            click.echo(self._text(report), nl=False, err=True)

    def _text(self, report: DoctorReport) -> str:
        from coldwarm.contracts import codec
        from coldwarm.report.shown import json_text

        if self.form == "json":
            return json_text(codec.encode(in_words(report)).decode())
        return self._rendered(document(report, everything=self.verbose))

    def _rendered(self, said: Document) -> str:
        from coldwarm.report import github, markdown, sarif, terminal

        if self.form == "text":
            return f"{terminal.text(said, _WIDTH)}\n"
        form = {"markdown": markdown.text, "github": github.text}.get(self.form, sarif.text)
        return form(said)

    @contextmanager
    def _or_printed(
        self, report: DoctorReport, path: Path, *, printed: bool = False
    ) -> Iterator[None]:
        """Print the report, unless it is, where a file cannot be made: nothing is lost."""
        try:
            yield
        except (OSError, UsageError) as error:
            if not printed:
                form = self.form if self.form in _WHOLE else "text"
                dataclasses.replace(self, form=form, out=None).print(report)
            if isinstance(error, UsageError):
                raise
            raise _not_written(path, error) from error


def _not_written(path: Path, error: OSError) -> StorageError:
    reason = error.strerror or str(error)
    return StorageError(f"{path} cannot be written: {reason}; name another file")


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


@dataclass(frozen=True)
class Watching:
    """A program, and what is asked of the doctor."""

    command: list[str]
    """Arguments behind ``python``."""
    python: str
    passes: list[Pass]
    written: OutputTargets
    warmup: Path | None
    then: ThenBench | None
    allowed: Mapping[str, int]
    values: bool
    """Whether values of static arguments are told."""

    @property
    def shown(self) -> list[str]:
        """The command line with nothing private in it."""
        return masked_command([self.python, *self.command])

    def run(self, started_at: str) -> int:
        """Do all of it, and return the exit status; negative: the signal that ended the program.

        Raises:
            UsageError: no report can be made.
            StorageError: it cannot be written.
            ProgramFailedError: a program that was to be measured ended with an error.
        """
        from coldwarm.doctor.record.journal import KEPT
        from coldwarm.doctor.record.signatures import VALUES
        from coldwarm.runner import temporary

        with (
            temporary.made() as folder,
            before_after.prepared(self.command, self.then, self.python) as bench,
        ):
            first = folder / self.passes[0]
            wanted = ((KEPT, self.warmup is not None), (VALUES, self.values))
            asks = [name for name, is_asked in wanted if is_asked]
            ended = watch.run(self.command, first, self.python, self.passes[0], asks=asks)
            others, missing = self._further(folder, ended.status)
            with _status_kept(ended.status):
                watched, report = self._read(first, ended, others, started_at)
                report = replace(report, unseen=[*report.unseen, *missing])
                later = bench is not None
                self.written.write(report, watched, ended.begin_s, later=later)
                if self.warmup is not None:
                    _write_warmup(watched, self.command, self.warmup, first, started_at)
                if bench is not None:
                    report = self._benched(bench, report, watched, ended)
        if report.fix is not None and _is_interrupted(report.fix):
            return ExitCode.INTERRUPTED
        slower = report.fix is not None and report.fix.comparison.verdict == "slower"
        failed = is_broken(report, self.allowed) or slower
        return ended.status or (ExitCode.REGRESSION if failed else ExitCode.FINE)

    def _further(self, folder: Path, usual: int) -> tuple[list[Watched], list[Reason]]:
        """Run the further passes; return what each has left, and what they may have missed."""
        from coldwarm.contracts.reasons import because
        from coldwarm.doctor import watch

        found, missing = [], []
        for one in self.passes[1:]:
            if usual < 0:
                missing.append(because("pass_left_out", what=one))
                continue
            status = watch.run(self.command, folder / one, self.python, one).status
            if status != usual:
                missing.append(
                    because("pass_ended", what=one, status=str(status), usual=str(usual))
                )
            try:
                found.append(watch.read(folder / one))
            except UsageError:
                missing.append(because("pass_unseen", what=one))
        return found, missing

    def _read(
        self, first: Path, ended: ProgramEnd, others: Sequence[Watched], started_at: str
    ) -> tuple[Watched, DoctorReport]:
        from coldwarm.doctor import watch

        try:
            watched = watch.read(first)
        except UsageError:
            if self.allowed:
                raise  # nothing says that it is kept
            watched = watch.nothing(self.shown)
        return watched, watch.report(watched, ended, started_at, others, self.shown)

    def _benched(
        self, bench: BeforeAfterBench, report: DoctorReport, watched: Watched, ended: ProgramEnd
    ) -> DoctorReport:
        """Measure what a change has brought, and say so; return the report with it."""
        try:
            report = bench.measured(report, ended.end_s - ended.begin_s)
        finally:  # also where nothing could be measured: it was not written whole before
            if report.fix is not None or self.written.form in _WHOLE:
                self.written.add_fix(report, watched, ended.begin_s)
        return report


def is_broken(report: DoctorReport, allowed: Mapping[str, int]) -> bool:
    """Say whether something happened more often than is allowed, and print what did."""
    from coldwarm.doctor.judge import broken

    failed = broken(report, allowed)
    for name, n in failed.items():
        say(f"{name} happened {counted(n, 'time')}, allowed: {allowed[name]}")
    return bool(failed)


def _is_interrupted(fix: Fix) -> bool:
    return any(one.code == "rounds_interrupted" for one in fix.limitations)


@contextmanager
def _status_kept(status: int) -> Iterator[None]:
    """Where no report can be made or written, end as the program did if that failed too."""
    try:
        yield
    except (UsageError, StorageError, OSError) as error:
        if status == 0:
            raise
        ahead = "" if isinstance(error, StorageError) else "there is no report: "
        say(f"{ahead}{error}")
        raise Exit(status) from error


def _write_warmup(
    watched: Watched, command_line: list[str], path: Path, journal: Path, date: str
) -> None:
    """Write the script that compiles beforehand, and say so."""
    from coldwarm.doctor import warmup
    from coldwarm.report.sentences import counted

    found = warmup.programs(watched.processes)
    if not found.kept:
        say(f"JAX compiled nothing that can be kept; {path} is not written")
        return
    text = warmup.script(found, masked_command(command_line), path, date)
    warmup.write(found, text, path, journal)
    left = f", without {len(found.left_out)} that cannot be" if found.left_out else ""
    what = f"{path} compiles {counted(len(found.kept), 'program')} beforehand{left}"
    say(what)
