"""A bench as Markdown, and as annotations of a GitHub workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import leading, markdown
from coldwarm.report.bench import (
    INTERVAL,
    NEW_SHAPES,
    failures,
    interval,
    metric_name,
    new_shapes,
    noted,
    ratio,
)
from coldwarm.report.compare.text import annotation
from coldwarm.report.view import suite_view

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
    ahead = [f"**FAIL**: {markdown.escaped(text)}" for text in failures(report)]
    more: list[str] = []
    if new := new_shapes(report):
        more += [f"{NEW_SHAPES}:", markdown.terms(new)]
    if report.verdicts:
        against = f"Ratios to {markdown.code(report.reference)}:"
        heading = ["candidate", "figure", "verdict", "ratio", INTERVAL]
        rows = [
            [
                markdown.code(one.candidate),
                markdown.escaped(metric_name(one.comparison.metric)),
                one.comparison.verdict,
                ratio(one.comparison),
                interval(one.comparison).replace("\n", "<br>"),
            ]
            for one in report.verdicts
        ]
        more += [against, markdown.table(heading, rows, labels=3)]
    return markdown.render(
        suite, cases, ahead=ahead, more=more, care=noted(report), verbose=verbose
    )


def github(report: BenchReport, suite: SuiteResult, cases: Sequence[CaseResult]) -> str:
    """Return workflow commands: errors for what fails, warnings for what is slower, the answer."""
    files = {one.candidate: _file(one.target) for one in report.candidates}
    lines = [
        _annotated(one, report.reference, files.get(one.candidate))
        for one in report.verdicts
        if one.fails_beyond is not None or one.comparison.verdict in {"faster", "slower"}
    ]
    view = suite_view(suite, cases, verbose=False)
    for group in view.groups:
        lines += [annotation("error", "coldwarm: failed", text) for text in group.failures]
        label = ""
        for one in group.lead:
            label = one.label or label
            lines.append(annotation("notice", f"coldwarm: {label}", one.text))
    label = ""
    for term, text in (*view.care, *noted(report)):
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
    title = f"{one.candidate}: {what} {comparison.verdict}"
    message = f"{leading.ratio(comparison)} than {reference}"
    if one.fails_beyond is not None:
        limit = f"{message}; the limit is {100 * one.fails_beyond:.3g} %"
        return annotation("error", title, limit, file)
    level = "warning" if comparison.verdict == "slower" else "notice"
    return annotation(level, title, message, file)
