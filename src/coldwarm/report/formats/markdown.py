"""Answers, tables and how to check them, for a README or a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.policy import Policy
from coldwarm.report import bench, catalogue, compare, markdown, unproved
from coldwarm.report.figures import held_against
from coldwarm.report.page import surroundings, verdicts
from coldwarm.stats.answers import answers
from coldwarm.stats.bench_report import bench_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.result import CaseResult, Measured
    from coldwarm.report.catalogue import Told

SUFFIX = ".md"
_CHECK = "`coldwarm validate DIR` computes every figure again from the raw samples."


def files(results: Sequence[Measured], name: str) -> dict[str, bytes]:
    """Return one file."""
    return with_verdicts(results, (), name)


def with_verdicts(
    results: Sequence[Measured], verdicts: Sequence[Told], name: str
) -> dict[str, bytes]:
    """Return one file, with verdicts on patterns and claims."""
    parts = [*map(_result, results), *map(catalogue.as_markdown, verdicts)]
    return {name: "\n".join(parts).encode()}


def compared(
    comparison: RunComparison, sides: tuple[Measured, Measured], name: str
) -> dict[str, bytes]:
    """Return what changed from one result to another."""
    said = compare.markdown(comparison, everything=True)
    about = [_about(side, label) for label, side in zip("AB", sides, strict=True)]
    return {name: "\n\n".join([said.rstrip(), *about, ""]).encode()}


def _result(measured: Measured) -> str:
    cases = list(measured.cases.values())
    suite = measured.suite
    if suite is None:
        blocks = [f"## {markdown.label(one.case)}" for one in cases]
        return "\n\n".join([*blocks, *_checked(cases), _about(measured, "")]) + "\n"
    if suite.suite == "bench":
        report, _ = bench_report(suite, cases, measured.path, Policy())
        said = bench.as_markdown(report, suite, cases)
    else:
        said = markdown.render(suite, cases, answers=answers(cases))
    title = f"## {markdown.label(suite.suite)}, {markdown.escaped(suite.started_at[:10])}"
    return "\n\n".join([title, said.rstrip(), *_checked(cases), _about(measured, "")]) + "\n"


def _checked(cases: Sequence[CaseResult]) -> list[str]:
    """Return the correctness gates in a line, and those that failed in a list."""
    rows = list(verdicts.gate_rows(cases))
    failed = [row for row in rows if row.failed]
    if not rows:
        return ["No output was checked."]
    if not failed:
        against = markdown.escaped(held_against(cases))
        return [f"Outputs that were checked: all of {len(rows)} cases agree, {against}."]
    said = [(f"{row.workload}, {row.candidate}", f"{row.passed} passed") for row in failed]
    return [f"**{len(failed)} of {len(rows)} cases gave wrong answers:**", markdown.terms(said)]


def _about(measured: Measured, label: str) -> str:
    """Return on what was measured, with what, and how to check it."""
    rows = []
    if measured.environment is not None:
        harness = measured.environment.harness
        rows.append(("on", surroundings.machine_line(measured.environment)))
        rows.append(("by", f"coldwarm {harness.version}"))
    if measured.suite is not None:
        rows.append(("run", measured.suite.run_id))
    rows += unproved.rows(len(measured.otherwise))
    if label:
        return f"{label}:\n\n{markdown.terms(rows)}"
    return f"{markdown.terms(rows)}\n\n{_CHECK}"
