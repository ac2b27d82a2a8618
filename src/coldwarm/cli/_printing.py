"""How commands print what was measured."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options
from coldwarm.errors import printable
from coldwarm.private.masking import masked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from coldwarm.contracts.bench import BenchReport
    from coldwarm.contracts.plan import Plan
    from coldwarm.contracts.result import CaseResult, SuiteResult


def print_run(
    suite: SuiteResult, cases: Sequence[CaseResult], form: str, *, verbose: bool = False
) -> None:
    """Print a run as its index (``json``), as Markdown or as tables."""
    from coldwarm.report import markdown, terminal
    from coldwarm.report.shown import PlainConsole
    from coldwarm.stats.plan.paying import payoffs

    pays = payoffs(cases)
    if form == "json":
        _options.print_record(suite)
    elif form == "markdown":
        click.echo(markdown.render(suite, cases, payoffs=pays, verbose=verbose))
    else:
        terminal.render(suite, cases, PlainConsole(), payoffs=pays, verbose=verbose)


def print_bench(
    report: BenchReport,
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    plan: Plan | None,
    form: str,
    *,
    verbose: bool = False,
) -> None:
    """Print a bench as its report (``json``), Markdown, annotations (``github``) or tables."""
    from coldwarm.report.bench import terminal, text
    from coldwarm.report.shown import PlainConsole
    from coldwarm.stats.plan.paying import payoffs

    pays = payoffs(cases)
    if form == "json":
        _options.print_record(report)
    elif form == "markdown":
        click.echo(text.as_markdown(report, suite, cases, pays, verbose=verbose), nl=False)
    elif form == "github":
        click.echo(text.github(report, suite, cases, pays), nl=False)
    else:
        terminal.render(report, suite, cases, plan, PlainConsole(), payoffs=pays, verbose=verbose)


def print_place(path: Path, *, verbose: bool) -> None:
    """Say where the artifacts lie, and what shows more of them."""
    place = printable(masked(str(path)))
    more = "" if verbose else f"\nMore: coldwarm show {shlex.quote(place)} --verbose"
    click.echo(f"\nArtifacts: {place}{more}")
