"""A bench of a user's own functions in words: table, verdicts and answer, as text and HTML."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from rich.text import Text

from coldwarm.errors import printable
from coldwarm.report import compare, figures, markdown, terminal, units
from coldwarm.report import plan as plan_view
from coldwarm.report.sentences import with_advice
from coldwarm.report.shown import annotation, line
from coldwarm.report.view import suite_view
from coldwarm.report.words import HEADINGS, marked
from coldwarm.stats.ratio import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console
    from rich.table import Table

    from coldwarm.contracts.answer import Comparison, Plan
    from coldwarm.contracts.bench import BenchCandidate, BenchReport, BenchVerdict
    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.report.answers import Line
    from coldwarm.report.view import Cell, Group


_NOTED = {
    "not_kept",
    "answers_differ",
    "may_compute",
    "not_opened",
    "arguments_changed",
    "second_call_compiled",
    "benchmark_of_today",
    "not_compared",
    "files_hidden",
    "files_untried",
}
"""What of a candidate's limitations is not the same for all of its backend."""
INTERVAL = f"{100 * CONFIDENCE:g} % interval"
NEW_SHAPES = "A call with a shape that its process has not seen, caches empty"
_LARGEST_RATIO = 1e4


def failures(report: BenchReport) -> list[str]:
    """Return a line for each verdict, and each count, that fails."""
    compiled = [
        f"{one.case}, {one.name}: {compare.sentence(one)}"
        for one in report.counts
        if one.fails_beyond is not None
    ]
    return [
        f"{one.candidate}, {metric_name(one.comparison.metric)}: {failing(one, report.reference)}"
        for one in report.verdicts
        if one.fails_beyond is not None
    ] + compiled


def failing(one: BenchVerdict, reference: str) -> str:
    """Say of a verdict that fails what it is, and which limit it is beyond."""
    limit = f"{100 * (one.fails_beyond or 0.0):.3g} %"
    if one.comparison.verdict == "undecided":
        return f"undecided: a difference of more than {limit} from {reference} is not excluded"
    return f"{figures.ratio(one.comparison)} than {reference}; the limit is {limit}"


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


def metric_name(metric: str) -> str:
    """Return what a metric is called in a table."""
    mode, _, figure = metric.rpartition(".")
    if metric == "warm.call_s":
        return "warm call"
    caches = next((lines[1] for name, lines in HEADINGS.items() if name == mode), mode)
    return f"first, {caches}" if figure == "ttfr_s" else f"{figure}, {caches}"


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


def checked(candidate: BenchCandidate) -> str:
    """Say what a candidate is, and what its answer was held against."""
    of = f", commit {candidate.revision[:12]}" if candidate.revision else ""
    return f"{candidate.target or candidate.candidate}{of}: {candidate.checked}"


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
    if said := compare.of_bench(report, metric_name):
        more += [terminal.listing(said), Text()]
    if guarded := compare.shown_counts(report.counts, everything=verbose):
        more += [line(f"Counts against {report.reference}", "bold")]
        more += [compare.laid_out(guarded, (report.reference, "count"), width)]
        more += [terminal.listing(compare.unknown(guarded)), Text()]
    if new := new_shapes(report):
        more += [Text(NEW_SHAPES, style="bold"), terminal.listing(new), Text()]
    if verbose and report.verdicts:
        against = f"Verdicts against {report.reference}"
        more += [line(against, "bold"), _verdicts(report, width), Text()]
    if verbose and plan is not None and plan.break_even:
        title = f"Calls of one process from which it costs no more than {plan.baseline}"
        more += [line(title, "bold"), plan_view.break_even_table(plan, width), Text()]
        if any(one.extrapolated for one in plan.break_even):
            more += [line(f"* {plan_view.EXTRAPOLATED}", "dim"), Text()]
    if verbose:
        notes = [(one.candidate, checked(one)) for one in report.candidates]
        more += [Text("The candidates", style="bold"), terminal.listing(notes), Text()]
    terminal.render(
        suite,
        cases,
        console,
        answers=report.answers,
        ahead=ahead,
        more=more,
        care=noted(report),
        verbose=verbose,
    )


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


def _verdict(verdict: BenchVerdict) -> Text:
    comparison = verdict.comparison
    text = Text(
        marked(comparison.verdict, verdict.held_back), terminal.VERDICT_STYLES[comparison.verdict]
    )
    if verdict.fails_beyond is not None:
        undecided = comparison.verdict == "undecided"
        text.append("\nFAIL" if undecided else f"\nbeyond {verdict.fails_beyond:.3g}", "red")
    return text


def as_markdown(
    report: BenchReport,
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    *,
    verbose: bool = False,
) -> str:
    """Return a bench for the summary of a CI job: the answer, the tables, ratios with intervals."""
    ahead = [f"**FAIL**: {markdown.escaped(text)}" for text in failures(report)]
    more: list[str] = []
    if said := compare.of_bench(report, metric_name):
        more.append(markdown.terms(said))
    if compiled := compare.shown_counts(report.counts, everything=verbose):
        heading = ["", "", markdown.code(report.reference), "count", "verdict"]
        rows = [[markdown.escaped(cell) for cell in compare.cells(one)] for one in compiled]
        more += ["Counts:", markdown.table(heading, rows, labels=2)]
        more += [markdown.terms(compare.unknown(compiled))]
    if new := new_shapes(report):
        more += [f"{NEW_SHAPES}:", markdown.terms(new)]
    if report.verdicts:
        against = f"Ratios to {markdown.code(report.reference)}:"
        heading = ["candidate", "figure", "verdict", "ratio", INTERVAL]
        rows = [
            [
                markdown.code(one.candidate),
                markdown.escaped(metric_name(one.comparison.metric)),
                marked(one.comparison.verdict, one.held_back),
                ratio(one.comparison),
                interval(one.comparison).replace("\n", "<br>"),
            ]
            for one in report.verdicts
        ]
        more += [against, markdown.table(heading, rows, labels=3)]
    return markdown.render(
        suite,
        cases,
        answers=report.answers,
        ahead=ahead,
        more=more,
        care=noted(report),
        verbose=verbose,
    )


def github(report: BenchReport, suite: SuiteResult, cases: Sequence[CaseResult]) -> str:
    """Return workflow commands: errors for what fails, warnings for what is slower, the answer."""
    files = {one.candidate: _file(one.target) for one in report.candidates}
    lines = [
        _annotated(one, report.reference, files.get(one.candidate))
        for one in report.verdicts
        if one.fails_beyond is not None or one.comparison.verdict in {"faster", "slower"}
    ]
    lines += [
        annotation(
            "error", f"{one.case}: more {one.name}", compare.sentence(one), files.get(one.case)
        )
        for one in report.counts
        if one.fails_beyond is not None
    ]
    view = suite_view(suite, cases, report.answers, verbose=False)
    for group in view.groups:
        lines += [annotation("error", "coldwarm: failed", text) for text in group.failures]
        label = ""
        for one in group.answer:
            label = one.label or label
            lines.append(annotation("notice", f"coldwarm: {label}", one.text))
    label = ""
    for term, text in (
        *compare.of_bench(report, metric_name),
        *view.care,
        *noted(report),
    ):
        label = term or label
        lines.append(annotation("notice", f"coldwarm: {label}", text))
    lines.append(annotation("notice", "coldwarm bench", view.closing[0]))
    return "\n".join(lines) + "\n"


def _file(target: str | None) -> str | None:
    place = (target or "").rpartition(":")[0]
    return place if place.endswith(".py") else None


def _annotated(one: BenchVerdict, reference: str, file: str | None) -> str:
    comparison = one.comparison
    what = metric_name(comparison.metric)
    title = f"{one.candidate}: {what} {marked(comparison.verdict, one.held_back)}"
    if one.fails_beyond is not None:
        return annotation("error", title, failing(one, reference), file)
    level = "warning" if comparison.verdict == "slower" else "notice"
    return annotation(level, title, f"{figures.ratio(comparison)} than {reference}", file)


# Each is read on a white page and on a dark one.
_COLOURS = {"faster": "#1f8a3d", "slower": "#e0353f", "undecided": "#a06b00"}


def as_html(report: BenchReport, suite: SuiteResult, cases: Sequence[CaseResult]) -> str:
    """Return the answer and the table; what to read with care, and a legend, are folded."""
    view = suite_view(suite, cases, report.answers, verbose=False)
    parts = [part for group in view.groups for part in (_answered(group.answer), _table(group))]
    parts += [_listed([("failed", text)]) for group in view.groups for text in group.failures]
    care = [*view.care, *noted(report)]
    if care:
        parts.append(_folded("Read with care", care))
    parts.append(_folded("How to read this", view.legend))
    parts.append(f"<p>{_text(view.closing[0])}</p>")
    return "".join(parts)


def _text(text: str) -> str:
    return html.escape(printable(text))


def _answered(found: Iterable[Line]) -> str:
    rows = []
    for one in found:
        said = "".join(_coloured(piece.text, piece.verdict) for piece in one.pieces)
        style = "text-align:left"
        rows.append(
            f"<tr><th style='{style}'>{_text(one.label)}</th><td style='{style}'>{said}</td></tr>"
        )
    return f"<table><tbody>{''.join(rows)}</tbody></table>" if rows else ""


def _coloured(text: str, verdict: str) -> str:
    if not verdict:
        return _text(text)
    colour = _COLOURS.get(verdict)
    style = f" style='color:{colour}'" if colour else ""
    return f"<b{style}>{_text(text)}</b>"


def _table(group: Group) -> str:
    if not group.rows:
        return ""
    headings = [" ".join(filter(None, group.headings[mode])) for mode in group.modes]
    memory = [] if group.rows[0].memory is None else ["peak memory"]
    head = "".join(f"<th>{_text(one)}</th>" for one in ("", *headings, *memory))
    rows = []
    for row in group.rows:
        cells = "".join(f"<td>{_cell(row.figures[mode])}</td>" for mode in group.modes)
        peak = "" if row.memory is None else f"<td>{_text(row.memory)}</td>"
        rows.append(f"<tr><th>{_text(row.candidate)}</th>{cells}{peak}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cell(cell: Cell) -> str:
    figure = " ".join(filter(None, (_text(cell.text), _text(cell.spread))))
    return f"{figure}<br>{_coloured(cell.verdict, cell.kind)}" if cell.verdict else figure


def _folded(title: str, items: Iterable[tuple[str, str]]) -> str:
    return f"<details><summary>{_text(title)}</summary>{_listed(items)}</details>"


def _listed(items: Iterable[tuple[str, str]]) -> str:
    rows = (f"<li><b>{_text(term)}</b> {_text(meaning)}</li>" for term, meaning in items)
    return f"<ul>{''.join(rows)}</ul>"
