"""Answers, tables and how to check them, for a README or a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.policy import Policy
from coldwarm.report import bench, comparison_text, markdown, provenance, view
from coldwarm.report.document import Document, Heading, Paragraph, Piece, command, terms
from coldwarm.report.formats import Format
from coldwarm.report.headline import held_against
from coldwarm.stats.answers import answers
from coldwarm.stats.bench_report import bench_report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.result import CaseResult, Measured
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
    about = (one for label, side in zip("AB", sides, strict=True) for one in _about(side, label))
    return {name: markdown.text(Document(said.title, (*said.blocks, *about))).encode()}


def _result(measured: Measured) -> Iterator[Block]:
    cases = list(measured.cases.values())
    suite = measured.suite
    if suite is None:
        yield from (Heading(one.case, 0) for one in cases)
    else:
        yield Heading(f"{suite.suite}, {suite.started_at[:10]}", 0)
    if suite is not None and suite.suite == "bench":
        report, plan = bench_report(suite, cases, measured.path, Policy())
        yield from bench.document(report, suite, cases, plan, ratios=True).blocks
    elif suite is not None:
        yield from view.document(suite, cases, answers=answers(cases)).blocks
    yield from _checked(cases)
    yield from _about(measured)
    yield Paragraph(_CHECK)


def _checked(cases: Sequence[CaseResult]) -> Iterator[Block]:
    """Yield the correctness gates in a line, and those that failed in a list."""
    rows = list(provenance.gate_rows(cases))
    failed = [row for row in rows if row.failed]
    if not rows:
        yield Paragraph("No output was checked.")
    elif failed:
        yield Paragraph(f"{len(failed)} of {len(rows)} cases gave wrong answers:", "failure")
        said = ((f"{row.workload}, {row.candidate}", f"{row.passed} passed") for row in failed)
        yield from terms(said)
    else:
        against = held_against(cases)
        text = f"Outputs that were checked: all of {len(rows)} cases agree, {against}."
        yield Paragraph(text)


def _about(measured: Measured, label: str = "") -> Iterator[Block]:
    """Yield on what was measured, and with what."""
    rows = []
    if measured.environment is not None:
        harness = measured.environment.harness
        rows.append(("on", provenance.machine_line(measured.environment)))
        rows.append(("by", f"coldwarm {harness.version}"))
    if measured.suite is not None:
        rows.append(("run", measured.suite.run_id))
    yield from terms((*rows, *provenance.rows(len(measured.otherwise))), title=label)


FORMAT = Format(suffix=".md", files=_files, compared=_compared, with_verdicts=_with_verdicts)
