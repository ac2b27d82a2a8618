"""The page as text: its parts as they stand in its template."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.report import comparison_text, provenance
from coldwarm.report.page.template import filled
from coldwarm.report.provenance import Folded
from coldwarm.report.sentences import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.result import Measured
    from coldwarm.report.page.template import Section
    from coldwarm.report.verdict_table import VerdictTable
    from coldwarm.report.view import View

    Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ResultPart:
    """One result of those on the page."""

    name: str
    path: str
    machine: str
    said: Pairs
    complete: bool
    sections: tuple[Section, ...]
    together: Section | None
    """Figures of all workloads together."""
    figures: tuple[provenance.FigureRow, ...]
    colours: dict[str, str]
    care: Pairs
    unavailable: tuple[str, ...]
    legend: Pairs
    gates: tuple[provenance.GateRow, ...]
    rejected: tuple[provenance.RejectedRow, ...]
    limitations: Pairs
    protocols: tuple[provenance.Folded, ...]
    environment: tuple[provenance.Folded, ...]
    files: Pairs


def part(
    measured: Measured,
    view: View | None,
    sections: Mapping[str, Section],
    together: Section | None,
) -> ResultPart:
    """Return what the page says of one result.

    ``sections``: by the name of the workload; ``together``: of all workloads.
    """
    cases = list(measured.cases.values())
    suite = measured.suite
    anchors = {name: section.anchor for name, section in sections.items()}
    groups = view.groups if view else ()
    cells = {(group.title, row.candidate): row for group in groups for row in group.rows}
    machine = measured.environment
    return ResultPart(
        name=suite.suite if suite else cases[0].case,
        path=Path(measured.path).name,  # where it lies is of its owner alone
        machine=provenance.machine_line(machine) if machine else "an unknown machine",
        said=tuple(_said(measured)),
        complete=suite is None or suite.complete,
        sections=tuple(sections.values()),
        together=together,
        figures=tuple(provenance.figures(cases, cells, anchors)),
        colours={name: c for one in sections.values() for name, c in one.looks.items()},
        care=view.care if view else (),
        unavailable=view.unavailable if view else (),
        legend=view.legend if view else (),
        gates=tuple(provenance.gate_rows(cases)),
        rejected=tuple(provenance.rejected_rows(cases)),
        limitations=tuple(provenance.limitations(cases)),
        protocols=tuple(provenance.protocols(cases)),
        environment=tuple(provenance.environment(machine)) if machine else (),
        files=tuple((case.path, case.sha256) for case in suite.cases) if suite else (),
    )


def _said(measured: Measured) -> list[tuple[str, str]]:
    said: list[tuple[str, str]] = []
    if measured.suite is not None:
        said += [("suite", measured.suite.suite), ("measured", measured.suite.started_at[:16])]
        said.append(("run", measured.suite.run_id))
    if measured.environment is not None:
        said.append(("on", provenance.machine_line(measured.environment)))
    return said + provenance.rows(len(measured.otherwise))


def page_of_verdicts(verdicts: Sequence[VerdictTable]) -> str:
    """Return the page of patterns and claims alone."""
    kinds = " and ".join(one.kind for one in verdicts)
    return filled(
        "verdicts.html.j2",
        (),
        verdicts=verdicts,
        title=f"coldwarm: {kinds}",
        subtitle=f"verdicts on {kinds}",
    )


def page(parts: Sequence[ResultPart], verdicts: Sequence[VerdictTable] = ()) -> str:
    """Return the page of one result or more, with verdicts on patterns and claims if there are."""
    shown = [one for each in parts for one in each.figures]
    names = ", ".join(each.name for each in parts)
    return filled(
        "page.html.j2",
        [one for each in parts for one in (each.together, *each.sections) if one is not None],
        parts=parts,
        verdicts=verdicts,
        title=f"coldwarm: {names}",
        subtitle=" · ".join(f"{each.name}, {each.machine}" for each in parts),
        whats=list(dict.fromkeys(one.what for one in shown)),
        told=list(dict.fromkeys(one.verdict for one in shown if one.verdict)),
    )


def page_of_changes(
    comparison: RunComparison, sections: Sequence[Section], paths: Sequence[str]
) -> str:
    """Return the page of two results, which lie at ``paths``, with sections of figures of both."""
    differing = [(one.name, f"{one.a} in A, {one.b} in B") for one in comparison.software]
    rows = [(item, comparison_text.row(item), words(item.reason)) for item in comparison.metrics]
    return filled(
        "compared.html.j2",
        sections,
        changes={
            "summary": comparison_text.summary(comparison),
            "sides": comparison_text.sides(comparison),
            "remarks": comparison_text.remarks(comparison),
            "legend": comparison_text.legend(comparison),
            "rows": rows,
            "sections": sections,
            "software": Folded("What else differs", differing) if differing else None,
        },
        title="coldwarm: B against A",
        subtitle=" against ".join(reversed(paths)),
        whats=list(dict.fromkeys(what.text for _, (what, *_), _ in rows)),
        told=list(dict.fromkeys(item.verdict for item, _, _ in rows)),
    )
