"""``coldwarm doctor``: where a program's time went, and which line to change."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click
from click.core import ParameterSource

from coldwarm.cli import _options
from coldwarm.cli._commands import Command

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import CachesAs
    from coldwarm.doctor.watch import Pass


_ROUNDS = 5
_OF_A_RUN = ("values", "warmup", "then", "before", "passes", "python")
"""Parameters that say how a program is run."""


class _Doctor(Command):
    """A command whose options end behind ``-m`` and its module, as those of Python do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Leave what stands behind the module to it."""
        at, is_module = self._program(args)
        if is_module and at <= len(args):
            args = [*args[:at], "--", *args[at:]]
        return super().parse_args(ctx, args)

    def own(self, args: list[str]) -> list[str]:
        """Return the arguments that are not the program's."""
        at, is_module = self._program(args)
        return args[: at if is_module else at + 1]

    def _program(self, args: list[str]) -> tuple[int, bool]:
        """Return where the program stands, or what is behind the module, and which it is."""
        takes = {
            name: not getattr(one, "is_flag", False) for one in self.params for name in one.opts
        }
        at = 0
        while at < len(args) and args[at] != "--" and args[at].startswith("-"):
            if args[at].startswith("-m"):
                return at + (2 if args[at] == "-m" else 1), True
            at += 2 if takes.get(args[at], False) else 1
        return at + (args[at : at + 1] == ["--"]), False


@click.command(
    "doctor",
    cls=_Doctor,
    example="coldwarm doctor train.py --epochs 3",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m` does.")
@click.option(
    "-o",
    "--out",
    type=_options.Output(),
    metavar="FILE",
    help="File for the report. Default: standard error; with --format html, doctor.html.",
)
@_options.python
@click.option(
    "--passes",
    default="timing",
    metavar="NAMES",
    help="What to look for. timing (default): where time goes. keys: random keys used twice, for "
    "which the program runs again with jit off. all: both.",
)
@click.option(
    "--fail-on",
    metavar="LIMIT,...",
    default=None,
    help="End with status 1 if something happened more often, such as recompile:3. Also compiled, "
    "missing-sync, host-sync, or the id of a pattern; without a number, 0.",
)
@click.option(
    "--perfetto",
    type=_options.Output(),
    metavar="FILE",
    help="Write a timeline for https://ui.perfetto.dev.",
)
@click.option(
    "--warmup",
    type=_options.Output(dir_okay=False),
    metavar="FILE",
    help="Write a script that fills JAX's persistent compilation cache with what this program "
    "compiles.",
)
@click.option(
    "--then",
    type=click.Choice(["bench"]),
    metavar="bench",
    help="Then measure the program as it was and as it is now.",
)
@click.option(
    "--before",
    metavar="REV",
    help="With --then: commit, folder or file to compare with. Default: HEAD.",
)
@click.option(
    "--caches",
    type=click.Choice(["empty", "filled"]),
    metavar="STATE",
    default="empty",
    help="With --then: compilation caches are empty (default) or filled.",
)
@click.option(
    "--rounds",
    type=_options.Whole(2, 1000, example=5),
    metavar="N",
    default=_ROUNDS,
    help=f"With --then: rounds; both run once in each. Default: {_ROUNDS}, needed for a verdict.",
)
@click.option(
    "--time-budget",
    "time_budget_s",
    type=_options.Duration(),
    metavar="TIME",
    help="With --then: time for all rounds, such as 90s or 4m. Default: none.",
)
@click.option(
    "--hook",
    is_flag=True,
    help="Print a folder for PYTHONPATH. Python programs started with it and "
    "COLDWARM_DOCTOR=REPORT.json write a report.",
)
@click.option(
    "--read",
    "left",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Show the report, REPORT.json, of a program started with --hook, also if it was killed or "
    "still runs.",
)
@click.option(
    "--diff",
    "two",
    nargs=2,
    type=click.Path(path_type=Path),
    metavar="BEFORE AFTER",
    help="Compare two reports (--format json): what is gone, and what is new. The status is 1 if "
    "something new matters.",
)
@click.option(
    "--values",
    is_flag=True,
    help="Show all values of static arguments, which may be secret. Default: numbers, else type "
    "and hash.",
)
@_options.verbose
@_options.output("json", "markdown", "github", "sarif", "html")
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="PROGRAM [ARGUMENT]...")
@click.pass_context
def _command(
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
    time_budget_s: float | None,
    left: Path | None,
    two: tuple[Path, Path] | None,
    form: str,
    *,
    hook: bool,
    verbose: bool,
    values: bool,
) -> None:
    """Run a Python program, and say where its time goes.

    It also says which line to change, and what that would save. Options of the doctor go before
    PROGRAM; what follows it is for the program, whose output and exit status stay as they are.
    Ctrl-C goes to the program; three times within two seconds end it, with a report.
    Where it ended with 0, the status is 1 if --fail-on is exceeded or --then finds it slower.
    """
    from coldwarm.clock import Clock
    from coldwarm.doctor import before_after, watch
    from coldwarm.doctor.judge import limits
    from coldwarm.doctor.rules import patterns
    from coldwarm.doctor.run import OutputTargets, Watching, is_broken
    from coldwarm.doctor.warmup import archive_of, refuse
    from coldwarm.errors import ExitCode, UsageError

    _refuse(context, hook=hook, left=left, then=then)
    allowed = limits(fail_on or "", patterns())
    command_line = [*(["-m", module] if module else []), *program]
    written = OutputTargets(form, out, perfetto, verbose)
    if two:
        if command_line or hook or left is not None:
            raise UsageError("--diff stands alone: without a program, --hook and --read")
        written.validate()
        is_new = written.compare(*map(watch.stored, two))
        context.exit(ExitCode.REGRESSION if is_new else ExitCode.FINE)
    if hook or left is not None:
        if command_line or (hook and left is not None):
            raise UsageError("--hook and --read stand alone: without a program, and not together")
        if left is None:
            click.echo(watch.hook_path(os.environ.get("PYTHONPATH", "")))
            return
        watched = watch.left(left)
        found = watch.stored(left) if watched is None else watch.report(watched, None, "")
        written.validate()
        written.write(found, watched)
        context.exit(ExitCode.REGRESSION if is_broken(found, allowed) else ExitCode.FINE)
    if not command_line:
        raise UsageError("name a program: coldwarm doctor train.py, or coldwarm doctor -m package")
    scripts = [] if warmup is None else [warmup, archive_of(warmup)]
    written.validate(watch.files_of(command_line), scripts)
    if warmup is not None:
        refuse(warmup)
    wanted_then = before_after.ThenBench(before, caches, rounds, time_budget_s)
    asked = before_after.requested(then, wanted_then, command_line)
    if not module:
        _refuse_program(program[0])
    wanted = _passes(passes)
    watching = Watching(
        command_line, python or sys.executable, wanted, written, warmup, asked, allowed, values
    )
    context.exit(watching.run(Clock().date()))


def _refuse(context: click.Context, *, hook: bool, left: Path | None, then: str | None) -> None:
    """Refuse options that would do nothing.

    Raises:
        UsageError: one is given that needs a program to run, or ``--then bench``.
    """
    from coldwarm.errors import UsageError

    for name in _OF_A_RUN:
        if (hook or left is not None) and _is_given(context, name):
            other = "--hook" if hook else "--read"
            raise UsageError(f"{_named(name)} is for a program that is run, not for {other}")
    for name in ("caches", "rounds", "time_budget_s"):
        if then is None and _is_given(context, name):
            raise UsageError(f"{_named(name)} is for --then bench; give both, or neither")


_ENDINGS = {"", ".py", ".pyc", ".pyw", ".pyz", ".zip"}
"""Endings of what Python runs; a file with another one says that in its first line."""


def _refuse_program(name: str) -> None:
    """Refuse what Python would not run, before it is tried.

    Raises:
        UsageError: it is so.
    """
    from coldwarm.errors import UsageError

    path = Path(name)
    if name.startswith("-"):  # of Python's own: -c CODE, or - for standard input
        return
    if not path.exists():
        text = f"{name} is not there; name a Python file, or a module with -m"
        raise UsageError(text)
    if path.is_file() and path.suffix not in _ENDINGS:
        with path.open("rb") as file:
            is_python = b"python" in file.readline(_LONGEST_LINE)
        if not is_python:
            raise UsageError(f"{name} is no Python program; name a file such as train.py")


_LONGEST_LINE = 1000


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _named(name: str) -> str:
    named = {"time_budget_s": "time-budget"}
    return f"--{named.get(name, name)}"


def _passes(written: str) -> list[Pass]:
    """Return the passes that are asked for, the timing first.

    Raises:
        UsageError: there is no such pass.
    """
    from coldwarm.doctor.watch import PASSES
    from coldwarm.errors import UsageError

    names = {name.strip() for name in written.split(",") if name.strip()}
    if names == {"all"}:
        return [*PASSES]
    unknown = sorted(names - set(PASSES))
    if unknown or not names:
        text = f"--passes: there is no {', '.join(unknown) or 'pass named'}; there are "
        raise UsageError(text + ", ".join(PASSES))
    return ["timing", *(one for one in PASSES if one in names and one != "timing")]
