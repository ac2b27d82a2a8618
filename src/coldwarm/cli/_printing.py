"""How commands print what was measured."""

from __future__ import annotations

import re
import shlex
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options
from coldwarm.errors import printable
from coldwarm.private.masking import masked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.console import Console

    from coldwarm.contracts.bench import BenchReport
    from coldwarm.contracts.plan import Plan
    from coldwarm.contracts.result import CaseResult, SuiteResult

_PICTURE_COLUMNS = 80


def print_run(
    suite: SuiteResult, cases: Sequence[CaseResult], form: str, *, verbose: bool = False
) -> None:
    """Print a run as its index (``json``), as Markdown, as a picture (``svg``) or as tables."""
    from coldwarm.report import markdown, terminal
    from coldwarm.stats.plan.paying import payoffs

    pays = payoffs(cases)
    if form == "json":
        _options.print_record(suite)
    elif form == "markdown":
        click.echo(markdown.render(suite, cases, payoffs=pays, verbose=verbose))
    else:
        with _console(form, f"coldwarm run --suite {suite.suite}") as console:
            terminal.render(suite, cases, console, payoffs=pays, verbose=verbose)


def print_bench(
    report: BenchReport,
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    plan: Plan | None,
    form: str,
    *,
    verbose: bool = False,
) -> None:
    """Print a bench as its report (``json``), Markdown, annotations (``github``) or tables.

    ``svg`` is a picture of the tables.
    """
    from coldwarm.report.bench import terminal, text
    from coldwarm.stats.plan.paying import payoffs

    pays = payoffs(cases)
    if form == "json":
        _options.print_record(report)
    elif form == "markdown":
        click.echo(text.as_markdown(report, suite, cases, pays, verbose=verbose), nl=False)
    elif form == "github":
        click.echo(text.github(report, suite, cases, pays), nl=False)
    else:
        with _console(form, "coldwarm bench") as console:
            terminal.render(report, suite, cases, plan, console, payoffs=pays, verbose=verbose)


@contextmanager
def _console(form: str, title: str) -> Iterator[Console]:
    """Give a console that prints, or one whose picture is printed at the end (``svg``)."""
    from coldwarm.report.shown import PlainConsole

    if form != "svg":
        yield PlainConsole()
        return
    console = PlainConsole(
        record=True, width=_PICTURE_COLUMNS, file=StringIO(), force_terminal=True
    )
    yield console
    picture = console.export_svg(title=title)
    # A picture must be whole without a network: the viewer's own font serves.
    click.echo(re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL))


def print_place(path: Path, *, verbose: bool) -> None:
    """Say where the artifacts lie, and what shows more of them."""
    place = printable(masked(str(path)))
    more = "" if verbose else f"\nMore: coldwarm show {shlex.quote(place)} --verbose"
    click.echo(f"\nArtifacts: {place}{more}")
