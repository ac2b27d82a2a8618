"""A comparison of two results as Markdown, and as annotations of a GitHub workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.compare import counts
from coldwarm.report.compare.words import (
    HEADINGS,
    failing,
    legend,
    remarks,
    row,
    shown,
    sides,
    summary,
)
from coldwarm.report.markdown import code, escaped, table, terms
from coldwarm.report.sentences import with_advice
from coldwarm.report.shown import annotation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.comparison import ComparedMetric, RunComparison

_WORSE = ("slower", "more")


def markdown(comparison: RunComparison, *, everything: bool) -> str:
    """Return the comparison for the summary of a CI job or a pull request."""
    blocks = ["### B against A", terms(sides(comparison))]
    for case, items in shown(comparison, everything=everything).items():
        rows = [[escaped(cell) for cell in row(item)] for item in items]
        blocks += [code(case), table(["figure", *HEADINGS[1:]], rows)]
    compiled = counts.shown(comparison.counts, everything=everything)
    if compiled:
        rows = [[escaped(cell) for cell in counts.cells(one)] for one in compiled]
        blocks += [table(["case", "count", "A", "B", "verdict"], rows)]
        blocks += [terms(counts.unknown(compiled))]
    blocks += [terms(remarks(comparison)), "How to read this:", terms(legend(comparison))]
    closing = [summary(comparison, everything=everything), failing(comparison)]
    blocks += [f"**{escaped(line)}**" for line in closing if line]
    return "\n\n".join(blocks) + "\n"


def github(comparison: RunComparison, files: Mapping[str, str]) -> str:
    """Return workflow commands: errors for what fails, warnings for what is worse.

    Args:
        comparison: What was judged.
        files: The file of each case of B, for the annotation to point at.
    """
    lines = [
        _annotated(item, files.get(item.case))
        for item in comparison.metrics
        if item.fails_beyond is not None or item.verdict not in ("same", "undecided")
    ]
    lines += [
        annotation(
            "error", f"{one.case}: more {one.name}", counts.sentence(one), files.get(one.case)
        )
        for one in comparison.counts
        if one.fails_beyond is not None
    ]
    lines += [annotation("notice", f"coldwarm: {term}", text) for term, text in remarks(comparison)]
    lines.append(annotation("notice", "coldwarm compare", summary(comparison)))
    return "\n".join(lines) + "\n"


def _annotated(item: ComparedMetric, file: str | None) -> str:
    shown = row(item)
    title = f"{item.case}: {shown.figure} {item.verdict}"
    interval = f"{100 * item.confidence:.3g} %: {shown.interval}"
    message = f"{shown.a} became {shown.b}, {shown.ratio} times ({interval})"
    if item.ratio is None:
        message = with_advice(item.reason)
    if item.fails_beyond is not None:
        message += f"; the limit is {100 * item.fails_beyond:g} %"
        return annotation("error", title, message, file)
    level = "warning" if item.verdict in _WORSE else "notice"
    return annotation(level, title, message, file)
