"""What the page of a report holds, as text and packed data; the layout is the template's."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from coldwarm.report.charts.every import charts
from coldwarm.report.charts.workload import workloads
from coldwarm.report.figures import group_name
from coldwarm.report.page import surroundings, verdicts
from coldwarm.report.page.chosen import chosen
from coldwarm.report.page.packing import Pack
from coldwarm.report.page.processes import processes
from coldwarm.report.view import suite_view
from coldwarm.stats.plan.paying import payoffs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.measured import Measured
    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.charts.workload import Workload
    from coldwarm.report.leading import Line
    from coldwarm.report.view import Group, View

_NAMED_LONGER = 12


@dataclass(frozen=True)
class Drawing:
    """A figure's place on the page; what is drawn is in the pack of its section."""

    id: str
    kind: str
    title: str
    caption: str
    alt: str
    sets: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class Section:
    """A workload."""

    anchor: str
    title: str
    about: str
    lead: tuple[Line, ...]
    group: Group | None
    drawings: tuple[Drawing, ...]
    controls: bool
    looks: dict[str, str]
    """The colour of each candidate."""
    pack: str
    provenance: str


@dataclass(frozen=True)
class Part:
    """One result of those on the page."""

    name: str
    path: str
    said: tuple[tuple[str, str], ...]
    complete: bool
    view: View | None
    sections: tuple[Section, ...]
    figures: tuple[verdicts.Figure, ...]
    gates: tuple[verdicts.GateRow, ...]
    rejected: tuple[verdicts.RejectedRow, ...]
    limitations: tuple[tuple[str, str], ...]
    protocols: tuple[surroundings.Folded, ...]
    environment: tuple[surroundings.Folded, ...]
    files: tuple[tuple[str, str], ...]


def part(measured: Measured, place: int) -> Part:
    """Return what the page says of one result."""
    cases = list(measured.cases.values())
    view = suite_view(measured.suite, cases, payoffs(cases)) if measured.suite else None
    groups = {group.title: group for group in view.groups} if view else {}
    found = workloads(cases)
    where = _provenance(measured)
    sections = tuple(
        _section(one, groups.get(group_name(one.cases[0])), f"r{place}w{at}", where)
        for at, one in enumerate(found)
    )
    anchors = {group_name(w.cases[0]): s.anchor for w, s in zip(found, sections, strict=True)}
    rows = {(g.title, row.candidate): row for g in groups.values() for row in g.rows}
    return Part(
        name=measured.suite.suite if measured.suite else cases[0].case,
        path=measured.path,
        said=tuple(_said(measured)),
        complete=measured.suite is None or measured.suite.complete,
        view=view,
        sections=sections,
        figures=tuple(verdicts.figures(cases, rows, anchors)),
        gates=tuple(verdicts.gate_rows(cases)),
        rejected=tuple(verdicts.rejected_rows(cases)),
        limitations=tuple(surroundings.limitations(cases)),
        protocols=tuple(surroundings.protocols(cases)),
        environment=tuple(surroundings.environment(measured.environment))
        if measured.environment
        else (),
        files=tuple((case.path, case.sha256) for case in measured.suite.cases)
        if measured.suite
        else (),
    )


def _section(workload: Workload, group: Group | None, anchor: str, where: str) -> Section:
    cases = workload.cases
    pack = Pack(_calls(cases))
    drawings = []
    for chart in charts(workload):
        for name, rows in chart.data.items():
            pack.add(name, rows)
        pack.note(chart.id, {"spec": chart.spec, "sets": list(chart.data)})
        drawings.append(
            Drawing(
                id=f"{anchor}-{chart.id}",
                kind=chart.id,
                title=chart.title,
                caption=chart.caption,
                alt=chart.alt,
                sets=tuple(chart.data),
                rows=max(map(len, chart.data.values()), default=0),
            )
        )
    settings = chosen(workload, pack)
    pack.add("processes", processes(cases))
    return Section(
        anchor=anchor,
        title=workload.title,
        about=group.about if group else cases[0].protocol.data_layout,
        lead=group.lead if group else (),
        group=group,
        drawings=tuple(drawings),
        controls=settings,
        looks={name: look.colour for name, look in workload.looks.items()},
        pack=pack.text(),
        provenance=where,
    )


def _calls(cases: Sequence[CaseResult]) -> set[int]:
    """Return the numbers of calls that samples are the mean of."""
    seen = chain.from_iterable(case.observations for case in cases)
    return {block.batch for observation in seen for block in observation.blocks}


def _provenance(measured: Measured) -> str:
    if measured.suite is None:
        return "Measured here, in a run of which only this case is at hand"
    return f"Measured here, in run {measured.suite.run_id}, {measured.suite.started_at[:10]}"


def _said(measured: Measured) -> list[tuple[str, str]]:
    said: list[tuple[str, Any]] = []
    if measured.suite is not None:
        said += [("suite", measured.suite.suite), ("measured", measured.suite.started_at[:16])]
        said.append(("run", measured.suite.run_id))
    if measured.environment is not None:
        said.append(("on", surroundings.machine_line(measured.environment)))
    return said
