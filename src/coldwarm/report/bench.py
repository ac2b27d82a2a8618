"""A bench of a user's own functions as a document: what fails, the answer, tables, verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from coldwarm.report import comparison_text, headline, units, view
from coldwarm.report import plan_document as plan_view
from coldwarm.report.answer_text import budget_option
from coldwarm.report.care import Remark
from coldwarm.report.document import Cell, Heading, Notice, Paragraph, name, row, table, terms
from coldwarm.report.sentences import with_advice
from coldwarm.report.words import HEADINGS, KINDS, marked
from coldwarm.stats.ratio import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coldwarm.contracts.answer import Comparison, Plan
    from coldwarm.contracts.bench import BenchCandidate, BenchReport, BenchVerdict
    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.report.document import Block, Document, Table

_NOTED = {
    "may_compute": "",
    "not_opened": "",
    "answers_differ": "",
    "arguments_changed": "",
    "not_compared": "",
    "files_hidden": KINDS["kept"],
    "files_untried": KINDS["kept"],
    "second_call_compiled": KINDS["second_call"],
    "not_kept": KINDS["settings"],
    "benchmark_of_today": KINDS["settings"],
}
"""Limitations of a candidate that are not the same for all of its backend, the worst first, by the
label of caveats that are as bad; empty: the worst."""
_SHORT = dict.fromkeys(("may_compute", "not_opened"), "what it returns may not be computed yet")
_INTERVAL = f"{100 * CONFIDENCE:g} % interval"
_NEW_SHAPES = "The first call with each further shape or value, caches empty"
_LARGEST_RATIO = 1e4


def _failures(report: BenchReport) -> list[str]:
    """Return a line for each verdict, and each count, that fails."""
    compiled = [
        f"{one.case}, {one.name}: {comparison_text.sentence(one)}"
        for one in report.counts
        if one.fails_beyond is not None
    ]
    return [
        f"{one.candidate}, {metric_name(one.comparison.metric)}: {_failing(one, report.reference)}"
        for one in report.verdicts
        if one.fails_beyond is not None
    ] + compiled


def _failing(one: BenchVerdict, reference: str) -> str:
    """Say of a verdict that fails what it is, and which limit it is beyond."""
    limit = f"{100 * (one.fails_beyond or 0.0):.3g} %"
    if one.comparison.verdict == "undecided":
        return f"undecided: a difference of more than {limit} from {reference} is not excluded"
    return f"{headline.ratio(one.comparison)} than {reference}; the limit is {limit}"


def _new_shapes(report: BenchReport) -> list[tuple[str, str]]:
    """Return what a call of a new shape cost, where that was measured."""
    return [
        (one.candidate, units.duration(one.new_shape.median))
        for one in report.candidates
        if one.new_shape is not None
    ]


def _noted(report: BenchReport) -> list[Remark]:
    """Return what a candidate's answers are to be read with."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for code, like in _NOTED.items():
        for one in report.candidates:
            for reason in one.limitations:
                if reason.code == code:
                    key = with_advice(reason), _SHORT.get(code, ""), like
                    found.setdefault(key, []).append(one.candidate)
    return [
        Remark(", ".join(names), said, short=short, like=like)
        for (said, short, like), names in found.items()
    ]


def metric_name(metric: str) -> str:
    """Return what a metric is called in a table."""
    mode, _, figure = metric.rpartition(".")
    if metric == "warm.call_s":
        return "warm call"
    caches = next((lines[1] for name, lines in HEADINGS.items() if name == mode), mode)
    return f"first, {caches}" if figure == "ttfr_s" else f"{figure}, {caches}"


def _ratio(comparison: Comparison) -> str:
    """Write the ratio of a comparison, or that there is none."""
    return units.MISSING if comparison.ratio is None else _shown(comparison.ratio)


def _shown(value: float, to: units.Round = "near") -> str:
    if value >= _LARGEST_RATIO:
        return ">9999"
    return "<0.0001" if value < 1 / _LARGEST_RATIO else units.significant(value, to=to)


def _interval(comparison: Comparison) -> str:
    """Write the interval of a ratio, and under an open verdict what could have been seen."""
    if comparison.low is None or comparison.high is None:
        return "too few processes"
    bounds = f"{_shown(comparison.low, 'down')} … {_shown(comparison.high, 'up')}"
    if comparison.confidence < CONFIDENCE:
        return f"{bounds} (all)"
    if comparison.verdict != "undecided" or comparison.smallest_detectable is None:
        return bounds
    return f"{bounds}\nonly {_shown(1 + comparison.smallest_detectable)}× would show"


def _checked(candidate: BenchCandidate) -> str:
    """Say what a candidate is, and what its answer was held against."""
    of = f", commit {candidate.revision[:12]}" if candidate.revision else ""
    return f"{candidate.target or candidate.candidate}{of}: {candidate.checked}"


def document(  # noqa: PLR0913 - what stands where, each by name
    report: BenchReport,
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    plan: Plan | None = None,
    *,
    verbose: bool = False,
    ratios: bool = False,
    budget: Callable[[float], str] = budget_option,
) -> Document:
    """Return what fails, the suite's answers and tables, and what else a bench says.

    ``verbose``: also the break-even of each candidate with ``plan``, how answers were checked, and
    the ``ratios`` with their intervals, which the summary of a CI job has always.
    """
    # One round tells counts, and nothing of times.
    counts_alone = any(c.guarded for c in report.counts) and report.answers[0].n_rounds == 1
    failed = (("FAIL", text) for text in _failures(report))
    limits = [*comparison_text.of_limits(report, metric_name, verbose=verbose)]
    ahead: list[Block] = [*terms(failed, "failure"), *terms(limits, "care"), *_notices(report)]
    more: list[Block] = [*terms(comparison_text.of_control(report, metric_name), "care")]
    counts = [one for one in report.counts if one.guarded or one.reference is not None]
    if guarded := comparison_text.shown_counts(counts, everything=verbose):
        more.append(Heading(f"Counts against {report.reference}"))
        more.append(comparison_text.table_of_counts(guarded, (report.reference, "count")))
        more += terms(comparison_text.unknown(guarded))
    more += terms(_new_shapes(report), title=_NEW_SHAPES)
    if report.verdicts and (verbose or ratios):
        more += [Heading(f"Verdicts against {report.reference}"), _verdicts(report)]
    if verbose and plan is not None and plan.break_even:
        title = plan_view.break_even_title(plan)
        more += [Heading(title), plan_view.table_of_break_even(plan)]
        if any(one.extrapolated for one in plan.break_even):
            more.append(Paragraph(f"* {plan_view.EXTRAPOLATED}", "dim"))
    if verbose:
        more += terms(
            ((one.candidate, _checked(one)) for one in report.candidates), title="The candidates"
        )
    return view.document(
        suite,
        cases,
        answers=() if counts_alone else report.answers,
        ahead=ahead,
        more=more,
        remarks=_noted(report),
        verbose=verbose,
        budget=None if limits or report.n_failing else budget,
    )


def _verdicts(report: BenchReport) -> Table:
    rows = [
        row(
            name(verdict.candidate),
            metric_name(verdict.comparison.metric),
            _verdict(verdict),
            _ratio(verdict.comparison),
            Cell(_interval(verdict.comparison), style="dim"),
        )
        for verdict in report.verdicts
    ]
    return table(["candidate", "figure", "verdict", "ratio", _INTERVAL], rows, labels=2)


def _verdict(verdict: BenchVerdict) -> Cell:
    comparison = verdict.comparison
    said = marked(comparison.verdict, verdict.held_back)
    if verdict.fails_beyond is None:
        return Cell(said, verdict=comparison.verdict)
    undecided = comparison.verdict == "undecided"
    below = "FAIL" if undecided else f"beyond {verdict.fails_beyond:.3g}"
    return Cell(said, below=below, verdict="failed")


def _notices(report: BenchReport) -> Iterator[Notice]:
    """Yield errors for what fails or has no verdict, warnings for what is slower."""
    files = {one.candidate: _file(one.target) for one in report.candidates}
    for one in report.verdicts:
        if one.fails_beyond is not None or one.comparison.verdict in {"faster", "slower"}:
            yield _notice(one, report.reference, files.get(one.candidate))
    judged = {report.reference, *(one.candidate for one in report.verdicts)}
    for candidate in report.candidates:
        if candidate.reason is not None and candidate.candidate not in judged:
            title, text = f"{candidate.candidate}: no verdict", with_advice(candidate.reason)
            yield Notice("error", title, text, files[candidate.candidate])
    for count in report.counts:
        if count.fails_beyond is not None:
            title, text = f"{count.case}: more {count.name}", comparison_text.sentence(count)
            yield Notice("error", title, text, files.get(count.case))


def _file(target: str | None) -> str | None:
    place = (target or "").rpartition(":")[0]
    return place if place.endswith(".py") else None


def _notice(one: BenchVerdict, reference: str, file: str | None) -> Notice:
    comparison = one.comparison
    what = metric_name(comparison.metric)
    title = f"{one.candidate}: {what} {marked(comparison.verdict, one.held_back)}"
    if one.fails_beyond is not None:
        return Notice("error", title, _failing(one, reference), file)
    level: Literal["warning", "notice"] = "warning" if comparison.verdict == "slower" else "notice"
    return Notice(level, title, f"{headline.ratio(comparison)} than {reference}", file)
