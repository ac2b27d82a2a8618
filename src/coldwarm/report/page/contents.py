"""What the page of a report holds, as text and packed data; the layout is the template's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from coldwarm.report.charts.drawing import answers_of
from coldwarm.report.charts.every import of_result
from coldwarm.report.charts.workload import workloads
from coldwarm.report.figures import group_name
from coldwarm.report.page import surroundings, verdicts
from coldwarm.report.page.sections import Section, of_charts, section
from coldwarm.report.view import suite_view

if TYPE_CHECKING:
    from coldwarm.contracts.measured import Measured

    Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Part:
    """One result of those on the page."""

    name: str
    path: str
    machine: str
    said: Pairs
    complete: bool
    sections: tuple[Section, ...]
    together: Section | None
    """Figures of all workloads together."""
    figures: tuple[verdicts.Figure, ...]
    colours: dict[str, str]
    care: Pairs
    unavailable: tuple[str, ...]
    legend: Pairs
    gates: tuple[verdicts.GateRow, ...]
    rejected: tuple[verdicts.RejectedRow, ...]
    limitations: Pairs
    protocols: tuple[surroundings.Folded, ...]
    environment: tuple[surroundings.Folded, ...]
    files: Pairs


def part(measured: Measured, place: int) -> Part:
    """Return what the page says of one result."""
    cases = list(measured.cases.values())
    suite = measured.suite
    view = suite_view(suite, cases) if suite else None
    groups = {group.title: group for group in view.groups} if view else {}
    found = workloads(cases, answers_of(measured))
    where = _provenance(measured)
    sections = tuple(
        section(one, groups.get(group_name(one.cases[0])), f"r{place}w{at}", where)
        for at, one in enumerate(found)
    )
    anchors = {group_name(w.cases[0]): s.anchor for w, s in zip(found, sections, strict=True)}
    cells = {(g.title, row.candidate): row for g in groups.values() for row in g.rows}
    machine = measured.environment
    return Part(
        name=suite.suite if suite else cases[0].case,
        path=measured.path,
        machine=surroundings.machine_line(machine) if machine else "an unknown machine",
        said=tuple(_said(measured)),
        complete=suite is None or suite.complete,
        sections=sections,
        together=next(
            of_charts(partial(of_result, found), "All scenarios", f"r{place}", where), None
        ),
        figures=tuple(verdicts.figures(cases, cells, anchors)),
        colours={name: look.colour for one in found for name, look in one.looks.items()},
        care=view.care if view else (),
        unavailable=view.unavailable if view else (),
        legend=view.legend if view else (),
        gates=tuple(verdicts.gate_rows(cases)),
        rejected=tuple(verdicts.rejected_rows(cases)),
        limitations=tuple(surroundings.limitations(cases)),
        protocols=tuple(surroundings.protocols(cases)),
        environment=tuple(surroundings.environment(machine)) if machine else (),
        files=tuple((case.path, case.sha256) for case in suite.cases) if suite else (),
    )


def _provenance(measured: Measured) -> str:
    if measured.suite is None:
        return "Measured here, in a run of which only this case is at hand"
    return f"Measured here, in run {measured.suite.run_id}, {measured.suite.started_at[:10]}"


def _said(measured: Measured) -> list[tuple[str, str]]:
    said: list[tuple[str, str]] = []
    if measured.suite is not None:
        said += [("suite", measured.suite.suite), ("measured", measured.suite.started_at[:16])]
        said.append(("run", measured.suite.run_id))
    if measured.environment is not None:
        said.append(("on", surroundings.machine_line(measured.environment)))
    return said
