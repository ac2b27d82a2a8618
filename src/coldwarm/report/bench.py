"""A bench as tables and sentences, for a terminal of 80 columns or more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from coldwarm.report import leading, terminal, units
from coldwarm.report import plan as plan_view
from coldwarm.report.reasons import with_advice
from coldwarm.report.shown import line
from coldwarm.report.words import HEADINGS
from coldwarm.stats.ratio import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from coldwarm.contracts.bench import BenchCandidate, BenchReport, BenchVerdict
    from coldwarm.contracts.plan import Plan
    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.contracts.summary import Comparison

_NOTED = {"not_kept", "answers_differ", "arguments_changed", "second_call_compiled"}
"""What of a candidate's limitations is not the same for all of its backend."""
INTERVAL = f"{100 * CONFIDENCE:g} % interval"
NEW_SHAPES = "A call with a shape that its process has not seen, caches empty"
_LARGEST_RATIO = 1e4


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
    failing = [("FAIL", text) for text in failures(report)]
    ahead: list[Table | Text] = [terminal.listing(failing, "bold red"), Text()] if failing else []
    more: list[Table | Text] = []
    if new := new_shapes(report):
        more += [Text(NEW_SHAPES, style="bold"), terminal.listing(new), Text()]
    if verbose and report.verdicts:
        against = f"Verdicts against {report.reference}"
        more += [line(against, "bold"), _verdicts(report, width), Text()]
    if verbose and plan is not None and plan.break_even:
        title = f"Calls of one process from which it costs no more than {plan.baseline}"
        more += [line(title, "bold"), plan_view.break_even_table(plan, width), Text()]
    if verbose:
        notes = [(one.candidate, _checked(one)) for one in report.candidates]
        more += [Text("The candidates", style="bold"), terminal.listing(notes), Text()]
    care = noted(report)
    terminal.render(suite, cases, console, ahead=ahead, more=more, care=care, verbose=verbose)


def failures(report: BenchReport) -> list[str]:
    """Return a line for each verdict beyond its limit."""
    return [
        f"{one.candidate}, {metric_name(one.comparison.metric)}: {leading.ratio(one.comparison)}"
        f" than {report.reference}; the limit is {100 * one.fails_beyond:.3g} %"
        for one in report.verdicts
        if one.fails_beyond is not None
    ]


def new_shapes(report: BenchReport) -> list[tuple[str, str]]:
    """Return what a call of a new shape cost, where that was measured."""
    return [
        (one.candidate, units.duration(one.new_shape.median))
        for one in report.candidates
        if one.new_shape is not None
    ]


def noted(report: BenchReport) -> list[tuple[str, str]]:
    """Return what a candidate's answers are to be read with."""
    return [
        (one.candidate, with_advice(reason))
        for one in report.candidates
        for reason in one.limitations
        if reason.code in _NOTED
    ]


def _verdicts(report: BenchReport, width: int) -> Table:
    rows = []
    for verdict in report.verdicts:
        comparison = verdict.comparison
        rows.append(
            [
                line(verdict.candidate, "bold"),
                line(metric_name(comparison.metric)),
                _verdict(verdict),
                Text(ratio(comparison)),
                Text(interval(comparison), "dim"),
            ]
        )
    return terminal.table(["candidate", "", "verdict", "ratio", INTERVAL], rows, width)


def metric_name(metric: str) -> str:
    """Return what a metric is called in a table."""
    mode, _, figure = metric.rpartition(".")
    if metric == "warm.call_s":
        return "warm call"
    caches = next((lines[1] for name, lines in HEADINGS.items() if name == mode), mode)
    return f"first, {caches}" if figure == "ttfr_s" else f"{figure}, {caches}"


def _verdict(verdict: BenchVerdict) -> Text:
    comparison = verdict.comparison
    text = Text(comparison.verdict, terminal.VERDICT_STYLES[comparison.verdict])
    if verdict.fails_beyond is not None:
        text.append(f"\nbeyond {verdict.fails_beyond:.3g}", "red")
    return text


def ratio(comparison: Comparison) -> str:
    """Write the ratio of a comparison, or that there is none."""
    return units.MISSING if comparison.ratio is None else _shown(comparison.ratio)


def _shown(value: float) -> str:
    if value >= _LARGEST_RATIO:
        return ">9999"
    return "<0.0001" if value < 1 / _LARGEST_RATIO else units.significant(value)


def interval(comparison: Comparison) -> str:
    """Write the interval of a ratio, and under an open verdict what could have been seen."""
    if comparison.low is None or comparison.high is None:
        return "too few processes"
    bounds = f"{_shown(comparison.low)} … {_shown(comparison.high)}"
    if comparison.confidence < CONFIDENCE:
        return f"{bounds} (all)"
    if comparison.verdict != "undecided" or comparison.smallest_detectable is None:
        return bounds
    return f"{bounds}\nonly {_shown(1 + comparison.smallest_detectable)}× would show"


def _checked(candidate: BenchCandidate) -> str:
    of = f", commit {candidate.revision[:12]}" if candidate.revision else ""
    return f"{candidate.target or candidate.candidate}{of}: {candidate.checked}"
