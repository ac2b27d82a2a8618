"""Runs a program under the doctor, and does with what was seen what was asked for."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from click.exceptions import Exit
from msgspec.structs import replace

from coldwarm.cli._options import say
from coldwarm.cli.doctor import _then
from coldwarm.errors import ExitCode, StorageError, UsageError
from coldwarm.runner.user_input import command_line as masked_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.cli.doctor._then import Asked, Bench
    from coldwarm.cli.doctor._written import Written
    from coldwarm.contracts.doctor import DoctorReport, Fix
    from coldwarm.contracts.reasons import Reason
    from coldwarm.runner.doctor.reading import Watched
    from coldwarm.runner.doctor.starting import Ended, Pass


@dataclass(frozen=True)
class Watching:
    """A program, and what is asked of the doctor."""

    command: list[str]
    """What stands behind ``python``."""
    python: str
    passes: list[Pass]
    written: Written
    warmup: Path | None
    then: Asked | None
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
        from coldwarm.doctor.journal import KEPT
        from coldwarm.doctor.signatures import VALUES
        from coldwarm.runner.doctor import starting
        from coldwarm.runner.process import temporary

        with (
            temporary.made() as folder,
            _then.prepared(self.command, self.then, self.python) as bench,
        ):
            first = folder / self.passes[0]
            wanted = ((KEPT, self.warmup is not None), (VALUES, self.values))
            asks = [name for name, is_asked in wanted if is_asked]
            ended = starting.run(self.command, first, self.python, self.passes[0], asks=asks)
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
        from coldwarm.runner.doctor import reading, starting

        found, missing = [], []
        for one in self.passes[1:]:
            if usual < 0:
                missing.append(because("pass_left_out", what=one))
                continue
            status = starting.run(self.command, folder / one, self.python, one).status
            if status != usual:
                missing.append(
                    because("pass_ended", what=one, status=str(status), usual=str(usual))
                )
            try:
                found.append(reading.read(folder / one))
            except UsageError:
                missing.append(because("pass_unseen", what=one))
        return found, missing

    def _read(
        self, first: Path, ended: Ended, others: Sequence[Watched], started_at: str
    ) -> tuple[Watched, DoctorReport]:
        from coldwarm.runner.doctor import reading

        try:
            watched = reading.read(first)
        except UsageError:
            if self.allowed:
                raise  # nothing says that it is kept
            watched = reading.nothing(self.shown)
        return watched, reading.report(watched, ended, started_at, others, self.shown)

    def _benched(
        self, bench: Bench, report: DoctorReport, watched: Watched, ended: Ended
    ) -> DoctorReport:
        """Measure what a change has brought, and say so; return the report with it."""
        try:
            report = bench.measured(report, ended.end_s - ended.begin_s)
        finally:  # also where nothing could be measured: JSON was not written before
            if report.fix is not None or self.written.form == "json":
                self.written.add_fix(report, watched, ended.begin_s)
        return report


def is_broken(report: DoctorReport, allowed: Mapping[str, int]) -> bool:
    """Say whether something happened more often than is allowed, and print what did."""
    from coldwarm.stats.doctor.failing import broken

    failed = broken(report, allowed)
    for name, n in failed.items():
        say(f"coldwarm: {name} happened {n} times, allowed: {allowed[name]}", err=True)
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
        say(f"coldwarm: {ahead}{error}", err=True)
        raise Exit(status) from error


def _write_warmup(
    watched: Watched, command_line: list[str], path: Path, journal: Path, date: str
) -> None:
    """Write the script that compiles beforehand, and say so."""
    from coldwarm.report.doctor.warmup import script
    from coldwarm.report.sentences import counted
    from coldwarm.runner.doctor import warming
    from coldwarm.stats.doctor.kept import programs

    found = programs(watched.processes)
    if not found.kept:
        say(f"coldwarm: JAX compiled nothing that can be kept; {path} is not written", err=True)
        return
    text = script(found, masked_command(command_line), path, warming.archive_of(path), date)
    warming.write(found, text, path, journal)
    left = f", without {len(found.left_out)} that cannot be" if found.left_out else ""
    what = f"coldwarm: {path} compiles {counted(len(found.kept), 'program')} beforehand{left}"
    say(what, err=True)
