"""``coldwarm show``: the table of a finished run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import Command
from coldwarm.cli._options import say
from coldwarm.cli.run import print_run
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

_OF_SEVERAL = {"text", "markdown"}
"""Forms that several results can be shown in, one below the other."""


@click.command("show", cls=Command, example="coldwarm show out/mine")
@click.argument("directory", type=_options.Input(), metavar="RESULT")
@_options.verbose
@_options.output(*_output.EVERY_FORM)
def _command(directory: Path, form: str, *, verbose: bool) -> None:
    """Show a finished result: its answer, its table, its caveats.

    RESULT is a folder of `coldwarm run`, `bench`, `patterns run` or `claims run`, or a snapshot,
    packed or not. Nothing is measured: everything is computed again from what was measured, and a
    file that says anything else is refused.
    """
    from contextlib import ExitStack
    from functools import partial

    from coldwarm.cli._catalogue import judged, results_in
    from coldwarm.commands import commands_document, result
    from coldwarm.report import sweep
    from coldwarm.runner.sweep_results import is_sweep
    from coldwarm.runner.sweep_results import read as read_sweep

    if is_sweep(directory):
        report = read_sweep(directory)
        _output.emit(form, report, lambda: sweep.document(report))
        return
    if result.is_stored(directory):
        stored = result.read(directory)
        _output.emit(form, stored, lambda: commands_document.document(stored, verbose=verbose))
        return
    with ExitStack() as stack:
        found = results_in(directory, stack)
        if len(found) > 1 and form not in _OF_SEVERAL:
            names = ", ".join(path.name for path, _ in found)
            text = f"{directory} holds {names}; {form} is of one: leave --format out"
            raise UsageError(text)
        for path, kind in found:
            if len(found) > 1 and form == "text":
                say(path.name, before="\n")
            if kind is None:
                _show(path, form, verbose=verbose)
            else:
                results, table = judged(path, kind)
                _output.emit(form, results, partial(getattr, table, "document"))


def _show(path: Path, form: str, *, verbose: bool) -> None:
    from coldwarm.contracts.policy import Policy
    from coldwarm.report import bench
    from coldwarm.runner import recompute
    from coldwarm.stats.bench_report import bench_report

    suite, cases, otherwise = recompute.read_run(path)
    _output.tell(path, otherwise)
    if form != "json" and suite.suite == "bench" and cases:
        report, plan = bench_report(suite, cases, str(path), Policy())
        _output.emit(
            form,
            report,
            lambda: bench.document(
                report, suite, cases, plan, verbose=verbose, ratios=form == "markdown"
            ),
        )
    else:
        print_run(suite, cases, form, verbose=verbose)
