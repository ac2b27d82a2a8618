"""A bench as tables and sentences, for a terminal of 80 columns or more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from coldwarm.report import counts, terminal, units
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

_STYLES = {"faster": "green", "slower": "red", "same": "bold", "undecided": "dim italic"}
_NOTED = {"not_kept", "answers_differ", "arguments_changed", "second_call_compiled"}
"""What of a candidate's limitations is not the same for all of its backend."""
_LARGEST_RATIO = 1e4


def render(
    report: BenchReport,
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    plan: Plan | None,
    console: Console,
) -> None:
    """Print the suite's tables, and after them the verdicts and what else a bench says."""
    width = min(console.width, terminal.WIDEST)
    more: list[Table | Text] = []
    if report.verdicts:
        against = f"Verdicts against {report.reference}"
        more += [line(against, "bold"), _verdicts(report, width), Text()]
    guarded = counts.shown(report.counts)
    if guarded:
        more += [line(f"Counts against {report.reference}", "bold")]
        more += [counts.laid_out(guarded, (report.reference, "count"), width)]
        more += [terminal.listing(counts.unknown(guarded)), Text()]
    shapes = [
        (one.candidate, units.duration(one.new_shape.median))
        for one in report.candidates
        if one.new_shape is not None
    ]
    if shapes:
        title = "A call with a shape that its process has not seen, caches empty"
        more += [line(title, "bold"), terminal.listing(shapes), Text()]
    if plan is not None and plan.break_even:
        title = f"Calls of one process from which it costs no more than {plan.baseline}"
        more += [line(title, "bold"), plan_view.break_even_table(plan, width), Text()]
    notes = [note for one in report.candidates for note in _notes(one)]
    if notes:
        more += [Text("The candidates", style="bold"), terminal.listing(notes), Text()]
    terminal.render(suite, cases, console, more)


def _verdicts(report: BenchReport, width: int) -> Table:
    rows = []
    for verdict in report.verdicts:
        comparison = verdict.comparison
        rows.append(
            [
                line(verdict.candidate, "bold"),
                line(metric_name(comparison.metric)),
                _verdict(verdict),
                Text(units.MISSING if comparison.ratio is None else _ratio(comparison.ratio)),
                Text(_interval(verdict), "dim"),
            ]
        )
    return terminal.table(["candidate", "", "verdict", "ratio", "97 % interval"], rows, width)


def metric_name(metric: str) -> str:
    """Return what a metric is called in a table."""
    mode, _, figure = metric.rpartition(".")
    if metric == "warm.call_s":
        return "warm call"
    caches = next((lines[1] for name, lines in HEADINGS.items() if name == mode), mode)
    return f"first, {caches}" if figure == "ttfr_s" else f"{figure}, {caches}"


def _verdict(verdict: BenchVerdict) -> Text:
    comparison = verdict.comparison
    text = Text(comparison.verdict, _STYLES[comparison.verdict])
    if verdict.fails_beyond is not None:
        text.append(f"\nbeyond {verdict.fails_beyond:.3g}", "red")
    return text


def _ratio(value: float) -> str:
    if value >= _LARGEST_RATIO:
        return ">9999"
    return "<0.0001" if value < 1 / _LARGEST_RATIO else units.significant(value)


def _interval(verdict: BenchVerdict) -> str:
    """Write the interval, and under an open verdict what could have been seen."""
    comparison = verdict.comparison
    if comparison.low is None or comparison.high is None:
        return "too few processes"
    interval = f"{_ratio(comparison.low)} … {_ratio(comparison.high)}"
    if comparison.confidence < CONFIDENCE:
        return f"{interval} (all)"
    if comparison.verdict != "undecided" or comparison.smallest_detectable is None:
        return interval
    return f"{interval}\nonly {_ratio(1 + comparison.smallest_detectable)}× would show"


def _notes(candidate: BenchCandidate) -> list[tuple[str, str]]:
    of = f", commit {candidate.revision[:12]}" if candidate.revision else ""
    notes = [f"{candidate.target or candidate.candidate}{of}: {candidate.checked}"]
    notes += [with_advice(reason) for reason in candidate.limitations if reason.code in _NOTED]
    return [(candidate.candidate if not place else "", note) for place, note in enumerate(notes)]
