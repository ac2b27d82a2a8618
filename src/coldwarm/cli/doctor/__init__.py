"""``coldwarm doctor``: where a program's time went, and which line to change."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli.doctor import _then

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.cli.doctor._then import Bench
    from coldwarm.contracts.doctor import CachesAs, DoctorReport
    from coldwarm.runner.doctor.reading import Watched
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
@click.option(
    "--warmup",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a script there that compiles what the program compiles with JAX, to fill a cache on"
    " disk beforehand; beside it an archive of these programs.",
)
@click.option(
    "--then",
    type=click.Choice(["bench"]),
    help="Then measure the whole program before a change and after it, in turns. Without --before"
    " the program is kept as it is, and compared with what it is when the same is asked again.",
)
@click.option(
    "--before",
    metavar="REV|DIR|FILE",
    help="With --then bench: the program as it was, at a revision of git, in a folder or as a file",
)
@click.option(
    "--caches",
    type=click.Choice(["empty", "filled"]),
    default="empty",
    help="With --then bench: compilation caches on disk as each process finds them. Default: empty",
)
@click.option(
    "--rounds",
    type=click.IntRange(2, 1000),
    default=_then.ROUNDS,
    help=f"With --then bench: how often each is run. Default: {_then.ROUNDS}, the fewest that a"
    " verdict needs.",
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
    warmup: Path | None,
    then: str | None,
    before: str | None,
    caches: CachesAs,
    rounds: int,
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
    from coldwarm.runner.doctor import reading, starting, warming
    from coldwarm.stats.doctor.failing import broken, limits

    allowed = limits(fail_on or "", CHANGES)
    command_line = [*(["-m", module] if module else []), *program]
    if not command_line:
        raise UsageError("name a program: coldwarm doctor train.py, or coldwarm doctor -m package")
    if warmup is not None:
        warming.refuse(warmup)
    bench_asked = _then.asked(then, before, caches, rounds)
    started_at = Clock().date()
    program_of = python or sys.executable
    wanted = starting.PASSES if every else _passes(passes)
    with (
        tempfile.TemporaryDirectory(prefix="coldwarm-doctor-") as folder,
        _then.prepared(command_line, bench_asked, program_of, started_at) as bench,
    ):
        first = Path(folder) / wanted[0]
        ended = starting.run(command_line, first, program_of, wanted[0], keep=warmup is not None)
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
            elif bench is None or form != "json" or out is not None:
                _print(report, form, out, verbose=verbose)
            _write_warmup(watched, command_line, warmup, first, started_at)
            report = _benched(bench, report, form, out)
    failed = broken(report.findings, allowed)
    for name, n in failed.items():
        click.echo(f"coldwarm: {name} happened {n} times, allowed: {allowed[name]}", err=True)
    slower = report.fix is not None and report.fix.comparison.verdict == "slower"
    own = ExitCode.REGRESSION if failed or slower else ExitCode.FINE
    context.exit(_of_program(ended.status) or own)


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


def _benched(
    bench: Bench | None, report: DoctorReport, form: str, out: Path | None
) -> DoctorReport:
    """Measure what a change has brought, where that is asked, and return the report with it."""
    if bench is None:
        return report
    from coldwarm.report.doctor.fix import lines
    from coldwarm.report.shown import PlainConsole

    try:
        report = bench.measured(report)
    finally:
        if form == "json":
            _print(report, form, out, verbose=False)
    console = PlainConsole(stderr=True, width=80)
    for line in lines(report.fix) if report.fix is not None and form != "json" else ():
        console.print(line)
    return report


def _write_warmup(
    watched: Watched, command_line: list[str], path: Path | None, journal: Path, date: str
) -> None:
    """Write the script that compiles beforehand, where one is asked for, and say so."""
    if path is None:
        return
    from coldwarm.report.doctor.warmup import script
    from coldwarm.report.reasons import counted
    from coldwarm.runner.doctor import warming
    from coldwarm.stats.doctor.kept import programs

    found = programs(watched.processes)
    if not found.kept:
        click.echo(
            f"coldwarm: JAX compiled nothing that can be kept; {path} is not written", err=True
        )
        return
    text = script(found, command_line, path, warming.archive_of(path), date)
    warming.write(found, text, path, journal)
    left = f", without {len(found.left_out)} that cannot be" if found.left_out else ""
    what = f"coldwarm: {path} compiles {counted(len(found.kept), 'program')} beforehand{left}"
    click.echo(what, err=True)


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
