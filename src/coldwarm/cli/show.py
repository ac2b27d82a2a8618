"""``coldwarm show``: the table of a finished run."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import rich_click as click

from coldwarm.cli import _options, _printing

_PICTURE_COLUMNS = 80


@click.command("show")
@click.argument("directory", type=click.Path(path_type=Path), metavar="DIRECTORY")
@_options.verbose
@_options.output(
    "json",
    "markdown",
    "svg",
    note=" JSON: the suite's index. SVG: a picture of a terminal of 80 columns.",
)
def command(directory: Path, form: str, *, verbose: bool) -> None:
    """Print the table of a run: DIRECTORY is what `coldwarm run` or `coldwarm bench` wrote to.

    Nothing is measured. The figures are computed again from the observations, and an artifact that
    says anything else is refused.
    """
    from coldwarm.contracts.policy import Policy
    from coldwarm.report import terminal
    from coldwarm.report.shown import PlainConsole
    from coldwarm.runner.stored import reading
    from coldwarm.stats.plan import benching
    from coldwarm.stats.plan.paying import payoffs

    suite, cases = reading.read_run(directory)
    if form in {"table", "markdown"} and suite.suite == "bench" and cases:
        report, plan = benching.report(suite, cases, str(directory), Policy())
        _printing.print_bench(report, suite, cases, plan, form, verbose=verbose)
        return
    if form != "svg":
        _printing.print_run(suite, cases, form, verbose=verbose)
        return
    console = PlainConsole(
        record=True, width=_PICTURE_COLUMNS, file=StringIO(), force_terminal=True
    )
    terminal.render(suite, cases, console, payoffs=payoffs(cases), verbose=verbose)
    picture = console.export_svg(title=f"coldwarm run --suite {suite.suite}")
    # A picture must be whole without a network: the viewer's own font serves.
    click.echo(re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL))
