"""``coldwarm show``: the table of a finished run."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import Command
from coldwarm.cli.run import print_run


@click.command("show", cls=Command, example="coldwarm show out/mine")
@click.argument("directory", type=click.Path(path_type=Path), metavar="RESULT")
@_options.verbose
@_options.output(*_output.EVERY_FORM)
def _command(directory: Path, form: str, *, verbose: bool) -> None:
    """Show a finished result: its answer, its table, its caveats.

    RESULT is a folder of `coldwarm run`, `bench`, `patterns run` or `claims run`, or a snapshot,
    packed or not. Nothing is measured: everything is computed again from what was measured, and a
    file that says anything else is refused.
    """
    from coldwarm.contracts.policy import Policy
    from coldwarm.report import bench
    from coldwarm.runner import recompute
    from coldwarm.stats.bench_report import bench_report

    suite, cases, otherwise = recompute.read_run(directory)
    _output.tell(directory, otherwise)
    if form != "json" and suite.suite == "bench" and cases:
        report, plan = bench_report(suite, cases, str(directory), Policy())
        _output.emit(
            form,
            report,
            lambda: bench.document(
                report, suite, cases, plan, verbose=verbose, ratios=form == "markdown"
            ),
        )
    else:
        print_run(suite, cases, form, verbose=verbose)
