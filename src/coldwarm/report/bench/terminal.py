"""A bench as tables and sentences, for a terminal of 80 columns or more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from coldwarm.report import plan as plan_view
from coldwarm.report import terminal
from coldwarm.report.bench import words
from coldwarm.report.compare import compiled, counts, limits
from coldwarm.report.shown import line
from coldwarm.report.words import marked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from coldwarm.contracts.bench import BenchReport, BenchVerdict
    from coldwarm.contracts.plan import Plan
    from coldwarm.contracts.result import CaseResult, SuiteResult


def render(  # noqa: PLR0913 - what is shown, and how
    report: BenchReport,
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    plan: Plan | None,
    console: Console,
    *,
    verbose: bool = False,
) -> None:
    """Print what fails, the suite's tables, and what else a bench says.

    ``verbose``: also the ratios with their intervals, the break-even of each candidate, and how
    answers were checked.
    """
    width = min(console.width, terminal.WIDEST)
    failing = [("FAIL", text) for text in words.failures(report)]
    ahead: list[Table | Text] = [terminal.listing(failing, "bold red"), Text()] if failing else []
    more: list[Table | Text] = []
    if said := limits.of_bench(report, words.metric_name):
        more += [terminal.listing(said), Text()]
    if guarded := counts.shown(report.counts, everything=verbose):
        more += [line(f"Counts against {report.reference}", "bold")]
        more += [compiled.laid_out(guarded, (report.reference, "count"), width)]
        more += [terminal.listing(counts.unknown(guarded)), Text()]
    if new := words.new_shapes(report):
        more += [Text(words.NEW_SHAPES, style="bold"), terminal.listing(new), Text()]
    if verbose and report.verdicts:
        against = f"Verdicts against {report.reference}"
        more += [line(against, "bold"), _verdicts(report, width), Text()]
    if verbose and plan is not None and plan.break_even:
        title = f"Calls of one process from which it costs no more than {plan.baseline}"
        more += [line(title, "bold"), plan_view.break_even_table(plan, width), Text()]
        if any(one.extrapolated for one in plan.break_even):
            more += [line(f"* {plan_view.EXTRAPOLATED}", "dim"), Text()]
    if verbose:
        notes = [(one.candidate, words.checked(one)) for one in report.candidates]
        more += [Text("The candidates", style="bold"), terminal.listing(notes), Text()]
    terminal.render(
        suite,
        cases,
        console,
        answers=report.answers,
        ahead=ahead,
        more=more,
        care=words.noted(report),
        verbose=verbose,
    )


def _verdicts(report: BenchReport, width: int) -> Table:
    rows = []
    for verdict in report.verdicts:
        comparison = verdict.comparison
        rows.append(
            [
                line(verdict.candidate, "bold"),
                line(words.metric_name(comparison.metric)),
                _verdict(verdict),
                Text(words.ratio(comparison)),
                Text(words.interval(comparison), "dim"),
            ]
        )
    return terminal.table(["candidate", "", "verdict", "ratio", words.INTERVAL], rows, width)


def _verdict(verdict: BenchVerdict) -> Text:
    comparison = verdict.comparison
    text = Text(
        marked(comparison.verdict, verdict.held_back), terminal.VERDICT_STYLES[comparison.verdict]
    )
    if verdict.fails_beyond is not None:
        undecided = comparison.verdict == "undecided"
        text.append("\nFAIL" if undecided else f"\nbeyond {verdict.fails_beyond:.3g}", "red")
    return text
