"""A snapshot that was measured again, as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from coldwarm.report import units
from coldwarm.report.compare.words import figure as named
from coldwarm.report.sentences import counted, with_advice, words
from coldwarm.report.shown import line
from coldwarm.report.terminal import airy_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.table import Table

    from coldwarm.contracts.checked import (
        RepeatedFigure,
        RepeatedRun,
        Replication,
    )

_STYLES = {"agrees": "green", "disagrees": "bold red", "undecided": "dim"}
_HEADINGS = ("", "original", "replica", "replica over original", "agreement")
_BASES = {
    "seconds": "on the same machine: seconds, within the stated intervals",
    "baseline": "on another machine: ratios to the baseline, each within its own run",
}
_HARNESSES = {
    "same_sources": "the sources of coldwarm that measured the original",
    "wheel_of_snapshot": "the wheel of coldwarm in the snapshot",
    "other_sources": "other sources of coldwarm than those of the original",
}


def render(report: Replication, console: Console) -> None:
    """Print a table for each run, and how many cases agree."""
    for text in _about(report):
        console.print(line(text, "dim"))
    for run in report.runs:
        console.print(Text())
        console.print(line(f"{run.suite}, {_BASES[run.basis]}", "bold"))
        console.print(_table(run))
        for text in _remarks(run):
            console.print(line(text, "dim"))
    console.print(Text())
    console.print(line(summary(report), "bold"))


def _about(report: Replication) -> Iterator[str]:
    """Yield what was repeated and where."""
    original, environment = report.original, report.environment
    yield f"{original.snapshot_id}, index {original.snapshot_index_sha256}"
    if environment.kind == "as_it_is":
        yield f"measured in this environment, by {_HARNESSES[environment.harness]}"
        return
    n_installed = counted(len(environment.installed), "distribution")
    told = f"measured in a fresh environment of {n_installed}, each by its hash"
    yield f"{told}, by {_HARNESSES[environment.harness]}"


def summary(report: Replication) -> str:
    """Return how many cases agree, and the names of those that do not."""
    text = f"Cases that agree: {report.n_agree}; disagree: {report.n_disagree}; "
    text += f"undecided: {report.n_undecided}"
    if report.n_lost:
        text += f"; without a valid answer: {report.n_lost}"
    differing = [
        case.case for run in report.runs for case in run.cases if case.agreement == "disagrees"
    ]
    return f"{text}. Disagreeing: {', '.join(differing)}." if differing else f"{text}."


def _remarks(run: RepeatedRun) -> Iterator[str]:
    """Yield what was left out, and what was not the same."""
    for one in run.left_out:
        yield f"{one.case}: not compared: {words(one.reason)}"
    names = list(dict.fromkeys(one.name for one in run.differing))
    if names:
        yield f"not the same: {', '.join(names[:8])}"
    if run.software:
        yield f"other software: {', '.join(one.name for one in run.software[:8])}"
    if any(one.agreement == "undecided" for case in run.cases for one in case.figures):
        yield "undecided: neither was shown; more processes tell more"
    yield from (with_advice(reason) for reason in run.warnings)


def _table(run: RepeatedRun) -> Table:
    table = airy_table(2, header=True)
    for place, heading in enumerate(_HEADINGS):
        table.add_column(heading, justify="right" if 0 < place < 4 else "left", overflow="fold")  # noqa: PLR2004 - names left, figures right
    for case in run.cases:
        why = "" if case.reason is None else words(case.reason)
        style = _STYLES[case.agreement]
        verdict = Text("" if why else case.agreement, style=style)
        table.add_row(line(case.case, "italic"), "", "", "", verdict)
        if why:
            table.add_row(line(f" {why}", "dim"))
        for figure in case.figures:
            cells = [line(f" {named(figure.metric)}"), *_cells(figure)]
            table.add_row(*cells, Text(figure.agreement, style=_STYLES[figure.agreement]))
    return table


def _cells(figure: RepeatedFigure) -> list[Text]:
    write = units.duration if figure.basis == "seconds" else units.significant
    values = [
        units.MISSING if value is None else write(value)
        for value in (figure.original, figure.replica)
    ]
    return [Text(text) for text in (*values, _apart(figure))]


def _apart(figure: RepeatedFigure) -> str:
    if figure.ratio is None or figure.low is None or figure.high is None:
        return units.MISSING
    low, middle, high = (units.significant(one) for one in (figure.low, figure.ratio, figure.high))
    return f"{middle} ({low} to {high})"
