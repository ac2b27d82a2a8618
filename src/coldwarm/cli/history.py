"""``coldwarm history``: results of many commits in one folder, and where figures changed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import Measuring, Running, RunningGroup, is_quiet, with_example

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from coldwarm.contracts.reasons import Reason
    from coldwarm.runner.functions.targets import Request
    from coldwarm.runner.suite import Outcome


@click.group(
    name="history",
    cls=RunningGroup,
    help=with_example(
        "Keep the results of many commits, and see where figures changed.",
        "coldwarm history check history --fail-on slower:5%",
    ),
)
def _command() -> None:
    """Have the commands of a history."""


class _Date(click.ParamType[str]):
    """A date, which becomes one in UTC."""

    name = "date"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the date in UTC.

        Raises:
            BadParameter: it is none.
        """
        from coldwarm.history import store

        try:
            return store.utc(value)
        except ValueError:
            self.fail(f"{value!r:.40} is no date; write it as 2026-11-28T12:00", param, ctx)


_FOLDER = click.argument("folder", metavar="HISTORY", type=_options.Input())
_TO = click.option(
    "--to",
    "folder",
    required=True,
    type=_options.Output(file_okay=False),
    metavar="HISTORY",
    help="Folder of the history. It is made if it is not there.",
)
_CASE = click.option("--case", "case", metavar="TEXT", help="Only cases with this in the name.")
_METRIC = click.option(
    "--metric",
    "metric",
    metavar="TEXT",
    help="Only figures with this in the name, such as first or warm.",
)


@_command.command("add", example="coldwarm history add out/mine --to history")
@click.argument("results", nargs=-1, required=True, metavar="RESULT...", type=_options.Input())
@_TO
@click.option(
    "--commit",
    metavar="REV",
    help="Hash of the commit that was measured. Default: what the result says.",
)
@click.option(
    "--keep-results",
    "keep",
    type=_options.Whole(0, example=100),
    metavar="N",
    help="Remove the raw results of all but the newest N runs; their figures stay.",
)
@click.option(
    "--date",
    type=_Date(),
    metavar="DATE",
    help="When it was measured, if a file does not say: 2026-11-28T12:00.",
)
@_options.output("json")
def _add(
    results: tuple[Path, ...],
    folder: Path,
    commit: str | None,
    keep: int | None,
    date: str | None,
    form: str,
) -> None:
    """Put results into a history.

    RESULT is a folder of `coldwarm run` or `bench`, a snapshot of one, or a JSON file of pyperf,
    pytest-benchmark, asv, hyperfine or Bencher, or github-action-benchmark's data.js with all of
    its commits. It is read, computed again, and copied. A run that is there already is not added
    again. Keep one history for one branch. It may have runs of several machines: each figure is
    compared with those of the same machine, inputs and threads.
    """
    from dataclasses import replace

    from coldwarm import __version__
    from coldwarm.cli._results import run_in
    from coldwarm.contracts.history import HistoryAddition
    from coldwarm.contracts.result import Measured
    from coldwarm.errors import UsageError
    from coldwarm.history import history_document, store
    from coldwarm.integrations import formats

    added: list[str] = []
    left_out: dict[str, Reason] = {}
    n_there = 0
    for path in results:
        every = formats.read_all(run_in(path))
        if commit and len(every) > 1:
            text = f"{path} holds {len(every)} results, each with its commit; remove --commit"
            raise UsageError(text)
        for found in every:
            dated = found
            if isinstance(found, Measured):
                _output.tell(path, found.otherwise)
            else:
                dated = replace(found, started_at=found.started_at or date)
                left_out |= {**found.left_out, **found.failed}
                if not found.benchmarks:
                    continue
            run = store.add(folder, dated, commit)
            added += [] if run is None else [run.run_id]
            n_there += run is None
    made = HistoryAddition(
        harness_version=__version__,
        folder=str(folder),
        added=added,
        n_there=n_there,
        n_removed=store.prune(folder, keep) if keep is not None else 0,
        left_out=left_out,
    )
    _output.emit(form, made, lambda: history_document.added(made))


@_command.command(
    "measure",
    cls=Running,
    example="coldwarm history measure --to history --on dask:tcp://a:8786 -- bench a.py:f b.py:f",
)
@_TO
@click.option(
    "--on",
    "where",
    default="local",
    show_default=True,
    metavar="MACHINES",
    help="local, dask:ADDRESS of a scheduler, or submitit:slurm,partition=NAME.",
)
@click.option(
    "--runs",
    type=_options.Whole(1, example=3),
    metavar="N",
    help="Runs in all. Default: one for each machine.",
)
@click.option(
    "--send",
    "further",
    multiple=True,
    type=_options.Input(),
    metavar="PATH",
    help="File or folder that the functions need besides. Repeatable.",
)
@click.option(
    "--most-noise",
    type=_options.Share(),
    default="10%",
    show_default=True,
    metavar="SHARE",
    help="Leave out a machine that cannot show such a difference in a minute.",
)
@click.option("--any-noise", is_flag=True, help="Measure on each machine, without this test.")
@click.option("--commit", metavar="REV", help="Hash of the commit that is measured.")
@_options.output("json")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="-- bench|run [ARGUMENT]...")
def _measure(
    folder: Path,
    where: str,
    runs: int | None,
    further: tuple[Path, ...],
    most_noise: float,
    commit: str | None,
    arguments: tuple[str, ...],
    form: str,
    *,
    any_noise: bool,
) -> int:
    """Measure on several machines, and put the results into a history.

    Behind -- stands a command of coldwarm, `bench` or `run`. Each machine measures its noise first,
    and then does it as a whole, in a folder of its own with the files that it names. If a machine
    is lost, its run is given to another. A result is verified before it is kept. Each machine needs
    coldwarm. Whoever reaches the scheduler can run code on its workers, and a worker can run code
    here. `coldwarm history pool` shows each figure over all machines.
    """
    from coldwarm.errors import ExitCode
    from coldwarm.history import executors, history_document, machines

    machines.refuse_others(arguments)
    files = machines.files_of(arguments, further)
    plan = machines.MachinePlan(arguments, files, None if any_noise else most_noise, runs)
    carrier, quiet = executors.opened(where, runs), is_quiet()

    def tell(line: str) -> None:
        if not quiet:
            _options.say(line, err=True)

    found = machines.measure(carrier, plan, folder, tell, commit)
    _output.emit(form, found, lambda: history_document.measured(found))
    if found.interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.FINE if found.n_kept == found.n_runs else ExitCode.FAILED


@_command.command("query", example="coldwarm history query history --metric warm")
@_FOLDER
@_CASE
@_METRIC
@click.option("--commit", metavar="REV", help="Only runs of this commit, or its first letters.")
@click.option(
    "--newest",
    type=_options.Whole(1, example=100),
    metavar="N",
    help="Only the newest N runs. Default: all.",
)
@_options.output("json", "markdown", "csv")
def _query(
    folder: Path,
    case: str | None,
    metric: str | None,
    commit: str | None,
    newest: int | None,
    form: str,
) -> None:
    """Show the figures of a history, run by run.

    Beside each figure stands its ratio to the baseline of the same run, with its interval.
    """
    from coldwarm.contracts import codec
    from coldwarm.history import check, history_document

    if newest is None and form in {"text", "markdown"}:  # which have no room for more
        newest = history_document.MOST_ROWS
    asked = check.Asked(case or "", metric or "", commit or "", newest)
    found = check.rows(folder, asked)
    if form == "csv":
        click.echo(history_document.csv_text(codec.without_secrets(found)), nl=False)
    else:
        _output.emit(form, found, lambda: history_document.rows(found))


@_command.command("pool", example="coldwarm history pool history --metric warm")
@_FOLDER
@_CASE
@_METRIC
@_options.output("json", "markdown")
def _pool(folder: Path, case: str | None, metric: str | None, form: str) -> None:
    """Show figures over all machines of a history.

    A figure is the ratio to the baseline of the same run, on each machine that of its newest runs.
    Printed are its middle over machines with a 95 % interval, between which bounds it is on another
    machine, how far machines differ, and on which of them it is the other way round.
    """
    from coldwarm.history import history_document, pool

    found = pool.pool(folder, case or "", metric or "")
    _output.emit(form, found, lambda: history_document.pooled(found))


@_command.command("check", example="coldwarm history check history --fail-on slower:5%")
@_FOLDER
@click.option(
    "--newest",
    type=_options.Whole(1, example=10),
    metavar="N",
    default=10,
    show_default=True,
    help="--fail-on judges changes that began in the newest N runs of a machine.",
)
@_options.fail_on("slower:5%,more:10%")
@_options.output("json", "markdown", "github")
@click.pass_context
def _check(
    context: click.Context, folder: Path, newest: int, failures: tuple[str, ...], form: str
) -> None:
    """Find the runs from which on a figure is different.

    Times are judged as the ratio to the baseline of the same run, so that a slower machine is no
    change. The times of the baseline itself are shown, and never fail; a run with one candidate has
    no baseline. A change is reported only if chance is very unlikely: usually three runs after it.
    One slow run is not reported. With --fail-on, the exit status is 1 if the whole interval of a
    new change is beyond the limit; for memory the limits are more and less.
    """
    from coldwarm.errors import ExitCode
    from coldwarm.history import check, history_document

    limits = _options.failures(failures, check.SIDES, counts=False)
    found = check.check(folder, newest, limits)
    _output.emit(form, found, lambda: history_document.checked(found))
    if found.n_failing:
        context.exit(ExitCode.REGRESSION)


@_command.command("report", example="coldwarm history report history -o history.html")
@_FOLDER
@click.option(
    "-o",
    "--out",
    type=_options.Output(dir_okay=False),
    metavar="FILE",
    default="history.html",
    show_default=True,
    help="The page.",
)
@_options.output("json")
def _report(folder: Path, out: Path, form: str) -> None:
    """Write a page of a history: each figure over its runs, with its changes.

    The page is one file, which needs no network. Cases with the newest changes stand first. With
    --format json, the changes are printed too.
    """
    from coldwarm.cli._options import say
    from coldwarm.history import check, history_document, history_page, store

    found = store.history(folder)
    checked = check.check_read(found, folder, 1, {})
    _output.write_text(out, history_page.page_of_history(found, checked))
    if form == "json":
        _output.emit(form, checked, lambda: history_document.checked(checked))
    else:
        say(out)


_INPUTS = click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=WHAT",
    help="Argument of the function, as for `coldwarm bench`. Repeatable.",
)


def _request(target: str, inputs: tuple[str, ...], cold: bool, warm: bool, **how: Any) -> Request:  # noqa: ANN401 - what a bench takes
    """Return the request to bench one function."""
    from coldwarm.runner.functions import targets

    options = targets.options(cold=cold, warm=warm, **how)
    return targets.Request(targets=(target,), inputs=inputs, options=options)


@contextmanager
def _benches(folder: Path) -> Iterator[Callable[[Request, str], Outcome]]:
    """Give what benches a function into a part of a folder, and shows how far it is."""
    from coldwarm.report.progress import open_progress
    from coldwarm.report.shown import PlainConsole
    from coldwarm.runner.functions import bench

    with open_progress(PlainConsole(stderr=True, quiet=is_quiet())) as progress:
        yield lambda asked, name: bench.run(asked, folder / name, listener=progress)


@_command.command(
    "backfill",
    cls=Measuring,
    example="coldwarm history backfill fit.py:fit v1.0..main --to history --input x=f32[1000]",
)
@click.argument("target", metavar="TARGET")
@click.argument("revisions", metavar="OLD..NEW")
@_TO
@_INPUTS
@click.option(
    "--every",
    type=_options.Whole(1, example=8),
    metavar="N",
    default=8,
    show_default=True,
    help="Measure at least every Nth commit.",
)
@click.option(
    "--time-budget",
    "budget_s",
    type=_options.Duration(),
    metavar="TIME",
    default="30s",
    show_default=True,
    help="Time for each commit.",
)
@_options.threshold
@_options.threads
@_options.timeout
@_options.out("out/backfill-TIME")
@_options.output("json", "markdown")
def _backfill(
    *,
    target: str,
    revisions: str,
    folder: Path,
    inputs: tuple[str, ...],
    every: int,
    budget_s: float,
    threshold: float,
    threads: int | None,
    timeout: float,
    out: Path | None,
    form: str,
) -> int:
    """Measure old commits of a function, and put them into a history.

    TARGET is a function in a git repository, as for `coldwarm bench`. Every Nth commit of the range
    is measured beside the newest one, newest first; where two of them differ, so is the commit in
    the middle between them. A commit that was measured on this machine, and is in the history, is
    not measured again, so that the same command goes on later.
    """
    from coldwarm.errors import ExitCode
    from coldwarm.history import backfill, history_document

    how = {"time_budget_s": budget_s, "threshold": threshold, "threads": threads}
    request = _request(target, inputs, cold=True, warm=True, timeout_s=timeout, **how)
    place = out or _options.new_directory("backfill")
    with _benches(place) as measure:
        found = backfill.backfill(request, revisions, folder, every, measure)
    _output.emit(form, found, lambda: history_document.backfilled(found))
    if found.interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.FINE if any(one.outcome != "failed" for one in found.steps) else ExitCode.FAILED


@_command.command(
    "bisect",
    cls=Measuring,
    example="coldwarm history bisect fit.py:fit --good v1.0 --bad main --input x=f32[1000]",
)
@click.argument("target", metavar="TARGET")
@click.option("--good", required=True, metavar="REV", help="Commit before the change.")
@click.option("--bad", required=True, metavar="REV", help="Later commit that has the change.")
@_INPUTS
@click.option(
    "--metric",
    type=click.Choice(["warm", "cold"]),
    metavar="warm|cold",
    default="warm",
    show_default=True,
    help="Figure that changed: a warm call, or the first result with empty caches.",
)
@click.option(
    "--time-budget",
    "budget_s",
    type=_options.Duration(),
    metavar="TIME",
    default="30s",
    show_default=True,
    help="Time for each commit; if that decides nothing, twice and four times as much.",
)
@_options.threshold
@_options.threads
@_options.timeout
@_options.out("out/bisect-TIME")
@_options.output("json", "markdown")
def _bisect(
    *,
    target: str,
    good: str,
    bad: str,
    inputs: tuple[str, ...],
    metric: str,
    budget_s: float,
    threshold: float,
    threads: int | None,
    timeout: float,
    out: Path | None,
    form: str,
) -> int:
    """Find the commit that made a function slower, or faster.

    TARGET is a function in a git repository, as for `coldwarm bench`. The good commit and the bad
    one are measured side by side, then commits between them, each beside the good one. Printed is
    the first commit that has more than half of the change. A commit that fails is left out.
    """
    from coldwarm.errors import ExitCode
    from coldwarm.history import bisect, history_document

    warm = metric == "warm"
    how = {"time_budget_s": budget_s, "threshold": threshold, "threads": threads}
    request = _request(target, inputs, cold=not warm, warm=warm, timeout_s=timeout, **how)
    folder = out or _options.new_directory("bisect")
    with _benches(folder) as measure:
        found = bisect.bisect(request, good, bad, measure)
    _output.emit(form, found, lambda: history_document.bisected(found))
    if found.interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.FINE if found.first else ExitCode.NOTHING_VALID
