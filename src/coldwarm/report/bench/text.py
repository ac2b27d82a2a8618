"""A bench as Markdown, and as annotations of a GitHub workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import figures, markdown
from coldwarm.report.bench import words
from coldwarm.report.compare import counts, limits
from coldwarm.report.shown import annotation
from coldwarm.report.view import suite_view
from coldwarm.report.words import marked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.bench import BenchReport, BenchVerdict
    from coldwarm.contracts.result import CaseResult, SuiteResult


def as_markdown(
    report: BenchReport,
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    *,
    verbose: bool = False,
) -> str:
    """Return a bench for the summary of a CI job: the answer, the tables, ratios with intervals."""
    ahead = [f"**FAIL**: {markdown.escaped(text)}" for text in words.failures(report)]
    more: list[str] = []
    if said := limits.of_bench(report, words.metric_name):
        more.append(markdown.terms(said))
    if compiled := counts.shown(report.counts, everything=verbose):
        heading = ["", "", markdown.code(report.reference), "count", "verdict"]
        rows = [[markdown.escaped(cell) for cell in counts.cells(one)] for one in compiled]
        more += ["Counts:", markdown.table(heading, rows, labels=2)]
        more += [markdown.terms(counts.unknown(compiled))]
    if new := words.new_shapes(report):
        more += [f"{words.NEW_SHAPES}:", markdown.terms(new)]
    if report.verdicts:
        against = f"Ratios to {markdown.code(report.reference)}:"
        heading = ["candidate", "figure", "verdict", "ratio", words.INTERVAL]
        rows = [
            [
                markdown.code(one.candidate),
                markdown.escaped(words.metric_name(one.comparison.metric)),
                marked(one.comparison.verdict, one.held_back),
                words.ratio(one.comparison),
                words.interval(one.comparison).replace("\n", "<br>"),
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
        care=words.noted(report),
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
            "error", f"{one.case}: more {one.name}", counts.sentence(one), files.get(one.case)
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
        *limits.of_bench(report, words.metric_name),
        *view.care,
        *words.noted(report),
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
    what = words.metric_name(comparison.metric)
    title = f"{one.candidate}: {what} {marked(comparison.verdict, one.held_back)}"
    if one.fails_beyond is not None:
        return annotation("error", title, words.failing(one, reference), file)
    level = "warning" if comparison.verdict == "slower" else "notice"
    return annotation(level, title, f"{figures.ratio(comparison)} than {reference}", file)
