"""``coldwarm show``: the table of a finished run."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli.run import print_run


@click.command("show")
@click.argument("directory", type=click.Path(path_type=Path), metavar="DIRECTORY")
@_options.verbose
@_options.output(*_output.EVERY_FORM, note=f" JSON: the suite's index.{_output.NOTE}")
def _command(directory: Path, form: str, *, verbose: bool) -> None:
    """Print the table of a run: DIRECTORY is what `coldwarm run` or `coldwarm bench` wrote to.

    Nothing is measured. The figures are computed again from the observations, and an artifact that
    says anything else is refused. Where it says that another version of coldwarm measured it, what
    today's rules make is shown, and what differs is told.
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
