"""Answers, tables and how to check them, for a README or a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.policy import Policy
from coldwarm.report import bench, comparison_text, markdown, provenance, sweep, view
from coldwarm.report.document import Document, Heading, Paragraph, Piece, command, terms
from coldwarm.report.formats import Format
from coldwarm.report.sections.correctness import checked
from coldwarm.stats.answers import answers
from coldwarm.stats.bench_report import bench_report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.result import Measured
    from coldwarm.contracts.sweep import SweepReport
    from coldwarm.report.document import Block
    from coldwarm.report.verdict_table import VerdictTable

_CHECK = (
    command("coldwarm validate DIR"),
    Piece(" computes every figure again from the raw samples."),
)


def _files(results: Sequence[Measured], name: str) -> dict[str, bytes]:
    """Return one file."""
    return _with_verdicts(results, (), name)


def _with_verdicts(
    results: Sequence[Measured], verdicts: Sequence[VerdictTable], name: str
) -> dict[str, bytes]:
    """Return one file, with verdicts on patterns and claims."""
    made = [markdown.text(Document("coldwarm report", tuple(_result(one)))) for one in results]
    return {name: "\n".join([*made, *(markdown.text(one.document) for one in verdicts)]).encode()}


def _compared(
    comparison: RunComparison, sides: tuple[Measured, Measured], name: str
) -> dict[str, bytes]:
    """Return what changed from one result to another."""
    said = comparison_text.document(comparison, everything=True)
    about = (
        one
        for label, side in zip("AB", sides, strict=True)
        for one in terms(provenance.facts(side), title=label)
    )
    return {name: markdown.text(Document(said.title, (*said.blocks, *about))).encode()}


def _swept(report: SweepReport, name: str) -> dict[str, bytes]:
    """Return one file with what a sweep has found."""
    return {name: markdown.text(sweep.document(report)).encode()}


def _result(measured: Measured) -> Iterator[Block]:
    cases = list(measured.cases.values())
    suite = measured.suite
    if suite is None:
        yield from (Heading(one.case, 0) for one in cases)
    else:
        yield Heading(f"{suite.suite}, {suite.started_at[:10]}", 0)
    if suite is not None and suite.suite == "bench":
        report, plan = bench_report(suite, cases, measured.path, Policy())
        yield from bench.document(report, suite, cases, plan, verbose=True).blocks
    elif suite is not None:
        yield from view.document(suite, cases, answers=answers(cases), verbose=True).blocks
    yield from checked(cases)
    yield from terms(provenance.facts(measured))
    yield Paragraph(_CHECK)


FORMAT = Format(
    suffix=".md", files=_files, compared=_compared, with_verdicts=_with_verdicts, swept=_swept
)
