"""``coldwarm doctor``: where a program's time went, and which line to change."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import DoctorReport
    from coldwarm.runner.doctor.starting import Pass

_WIDEST = 80
"""Columns of a terminal that are used."""


class _Doctor(click.RichCommand):
    """A command whose options end behind ``-m`` and its module, as those of Python do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Leave what stands behind the module to it."""
        takes = {
            name: not getattr(one, "is_flag", False) for one in self.params for name in one.opts
        }
        at = 0
        while at < len(args) and args[at] != "--" and args[at].startswith("-"):
            if args[at].startswith("-m"):
                at += 2 if args[at] == "-m" else 1
                args = [*args[:at], "--", *args[at:]]
                break
            at += 2 if takes.get(args[at], False) else 1
        return super().parse_args(ctx, args)


@click.command(
    "doctor",
    cls=_Doctor,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m` does.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Write the report to this file, not to standard error. A page without --out goes to"
    " doctor.html.",
)
@click.option(
    "--python", default=None, help="The interpreter. Default: the one that runs coldwarm."
)
@click.option(
    "--passes",
    default="timing",
    help="What to look for, each in a run of its own, with commas: timing, keys (random keys that"
    " are used twice). Default: timing.",
)
@click.option("--all", "every", is_flag=True, help="All passes.")
@click.option(
    "--fail-on",
    metavar="WHAT[:N],…",
    default=None,
    help="End with 1 where a finding is there more than N times (0 where no N is given): recompile,"
    " missing-sync, host-sync, or the id of a pattern.",
)
@click.option(
    "--perfetto",
    type=click.Path(path_type=Path),
    help="Write a trace there that https://ui.perfetto.dev opens.",
)
@click.option("--verbose", "-v", is_flag=True, help="Show every finding and every call site.")
@_options.output("json", "html", plain="text")
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="PROGRAM [ARGUMENT]...")
@click.pass_context
def command(
    context: click.Context,
    program: tuple[str, ...],
    module: str | None,
    out: Path | None,
    python: str | None,
    passes: str,
    fail_on: str | None,
    perfetto: Path | None,
    form: str,
    *,
    every: bool,
    verbose: bool,
) -> None:
    """Run a Python program as it is, and say where its time went and what to change.

    The program's own output and its exit status stay as they are; where it ended with 0 and
    --fail-on is broken, the exit status is 1.
    """
    import sys
    import tempfile

    from coldwarm.clock import Clock
    from coldwarm.errors import ExitCode, UsageError
    from coldwarm.report.doctor.changes import CHANGES
    from coldwarm.report.doctor.perfetto import trace
    from coldwarm.report.page.doctor import page_of_doctor
    from coldwarm.runner.doctor import reading, starting
    from coldwarm.stats.doctor.failing import broken, limits

    allowed = limits(fail_on or "", CHANGES)
    command_line = [*(["-m", module] if module else []), *program]
    if not command_line:
        raise UsageError("name a program: coldwarm doctor train.py, or coldwarm doctor -m package")
    started_at = Clock().date()
    program_of = python or sys.executable
    wanted = starting.PASSES if every else _passes(passes)
    with tempfile.TemporaryDirectory(prefix="coldwarm-doctor-") as folder:
        first = Path(folder) / wanted[0]
        ended = starting.run(command_line, first, program_of, wanted[0])
        more = wanted[1:] if ended.status >= 0 else []
        for one in more:
            starting.run(command_line, Path(folder) / one, program_of, one)
        with _status_kept(context, ended.status):
            try:
                watched = reading.read(first)
            except UsageError:
                if allowed:
                    raise  # nothing says that it is kept
                watched = reading.nothing([program_of, *command_line])
            others = [reading.read(Path(folder) / one) for one in more]
            report = reading.report(watched, ended, started_at, others)
            if perfetto is not None:
                perfetto.write_text(trace(watched.processes, ended.begin_s), encoding="utf-8")
            if form == "html":
                page = page_of_doctor(report, watched.processes, ended.begin_s)
                (out or Path("doctor.html")).write_text(page, encoding="utf-8")
            else:
                _print(report, form, out, verbose=verbose)
    failed = broken(report.findings, allowed)
    for name, n in failed.items():
        click.echo(f"coldwarm: {name} happened {n} times, allowed: {allowed[name]}", err=True)
    context.exit(_of_program(ended.status) or (ExitCode.REGRESSION if failed else ExitCode.FINE))


def _of_program(status: int) -> int:
    """Return the exit status that a shell shows of a program that ended so."""
    return status if status >= 0 else 128 - status


@contextmanager
def _status_kept(context: click.Context, status: int) -> Iterator[None]:
    """Where no report can be made or written, end as the program did if that failed too."""
    from coldwarm.errors import UsageError

    try:
        yield
    except (UsageError, OSError) as error:
        if status == 0:
            raise
        click.echo(f"coldwarm: there is no report: {error}", err=True)
        context.exit(_of_program(status))


def _passes(written: str) -> list[Pass]:
    """Return the passes that are asked for, the timing first.

    Raises:
        UsageError: there is no such pass.
    """
    from coldwarm.errors import UsageError
    from coldwarm.runner.doctor.starting import PASSES

    names = {name.strip() for name in written.split(",") if name.strip()}
    unknown = sorted(names - set(PASSES))
    if unknown or not names:
        text = f"--passes: there is no {', '.join(unknown) or 'pass named'}; there are "
        raise UsageError(text + ", ".join(PASSES))
    return ["timing", *(one for one in PASSES if one in names and one != "timing")]


def _print(report: DoctorReport, form: str, out: Path | None, *, verbose: bool) -> None:
    """Write what the doctor says."""
    from io import StringIO

    from coldwarm.contracts.files import codec
    from coldwarm.report.doctor.terminal import shown
    from coldwarm.report.doctor.told import told
    from coldwarm.report.shown import PlainConsole, json_text

    if form == "json":
        text = json_text(codec.encode(told(report)).decode())
    else:
        if out is None:
            console = PlainConsole(stderr=True)
            console.width = min(_WIDEST, console.width)
            console.print(shown(report, everything=verbose))
            return
        written = StringIO()  # without the colours that a terminal would get
        PlainConsole(file=written, width=_WIDEST).print(shown(report, everything=verbose))
        text = written.getvalue()
    if out is None:
        click.echo(text, nl=False, err=True)
    else:
        out.write_text(text, encoding="utf-8")
