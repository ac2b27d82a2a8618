"""``coldwarm history``: results of many commits in one folder, and where figures changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import CommandGroup, with_example

if TYPE_CHECKING:
    from pathlib import Path


@click.group(
    name="history",
    cls=CommandGroup,
    help=with_example(
        "Keep the results of many commits, and see where figures changed.",
        "coldwarm history check history --fail-on slower:5%",
    ),
)
def _command() -> None:
    """Have the commands of a history."""


_FOLDER = click.argument("folder", metavar="HISTORY", type=_options.Input())


@_command.command("add", example="coldwarm history add out/mine --to history")
@click.argument("results", nargs=-1, required=True, metavar="RESULT...", type=_options.Input())
@click.option(
    "--to",
    "folder",
    required=True,
    type=_options.Output(file_okay=False),
    metavar="HISTORY",
    help="Folder of the history. It is made if it is not there.",
)
@click.option(
    "--commit",
    metavar="REV",
    help="Commit of the program that was measured. Default: what the result says.",
)
@click.option(
    "--keep-results",
    "keep",
    type=_options.Whole(0, example=100),
    metavar="N",
    help="Remove the raw results of all but the newest N runs; their figures stay.",
)
def _add(results: tuple[Path, ...], folder: Path, commit: str | None, keep: int | None) -> None:
    """Put results into a history.

    RESULT is a folder of `coldwarm run` or `bench`, or a snapshot of one. It is read and computed
    again, and copied. A run that is there already is left out. One history may have runs of several
    machines: each figure is compared with those of the same machine.
    """
    from coldwarm.cli._results import run_in
    from coldwarm.history import store
    from coldwarm.report.sentences import counted
    from coldwarm.runner import recompute

    n_new = 0
    for path in results:
        measured = recompute.read(run_in(path))
        _output.tell(path, measured.otherwise)
        n_new += store.add(folder, measured, commit) is not None
    removed = store.prune(folder, keep) if keep is not None else 0
    said = f"{counted(n_new, 'run')} added to {folder}"
    others = len(results) - n_new
    said += f"; {others} there already" if others else ""
    said += f"; the raw results of {counted(removed, 'run')} removed" if removed else ""
    _options.say(said)


@_command.command("query", example="coldwarm history query history --metric warm")
@_FOLDER
@click.option("--case", "case", metavar="TEXT", help="Only cases with this in the name.")
@click.option("--metric", "metric", metavar="TEXT", help="Only figures with this in the name.")
@_options.output("json", "markdown")
def _query(folder: Path, case: str | None, metric: str | None, form: str) -> None:
    """Show the figures of a history, run by run.

    Beside each figure stands how many times that of its baseline in the same run it is, with an
    interval.
    """
    from coldwarm.history import check, history_document

    found = check.rows(folder, case or "", metric or "")
    _output.emit(form, found, lambda: history_document.rows(found))


@_command.command("check", example="coldwarm history check history --fail-on slower:5%")
@_FOLDER
@click.option(
    "--newest",
    type=_options.Whole(1, example=3),
    metavar="N",
    default=3,
    show_default=True,
    help="Let --fail-on judge changes that began in the newest N runs.",
)
@_options.fail_on("slower:5%,faster:20%")
@_options.output("json", "markdown", "github")
@click.pass_context
def _check(
    context: click.Context, folder: Path, newest: int, failures: tuple[str, ...], form: str
) -> None:
    """Find from which run on a figure is another, and stays so.

    Where a run has a baseline, its ratio to that is judged, so that a slower machine is no change.
    A change is told where chance would hardly make it, from two runs after it on; a single slow run
    is none. With --fail-on, the exit status is 1 if the whole interval of a new change is beyond.
    """
    from coldwarm.errors import ExitCode
    from coldwarm.history import check, history_document

    sides: tuple[Literal["slower", "faster"], ...] = ("slower", "faster")
    found = check.check(folder, newest, _options.failures(failures, sides))
    _output.emit(form, found, lambda: history_document.checked(found))
    if found.n_failing:
        context.exit(ExitCode.REGRESSION)
