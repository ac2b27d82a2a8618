"""A section of the page: a workload's answer and its figures, with their data packed."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from coldwarm.report.answers import lines
from coldwarm.report.charts.every import charts
from coldwarm.report.page.job import Jobs
from coldwarm.report.page.packing import Pack
from coldwarm.report.page.places import WIDTHS, Drawing, Section
from coldwarm.report.page.processes import processes, samples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import Answer
    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.answers import Line
    from coldwarm.report.charts.chart import Chart
    from coldwarm.report.charts.workload import Workload
    from coldwarm.report.view import Group

_BESIDE = {"wide": 330, "narrow": 240}
"""Of the figure beside an answer."""


def section(workload: Workload, group: Group | None, anchor: str, where: str) -> Section:
    """Return the section of a workload."""
    cases = workload.cases
    pack = Pack(_calls(cases))
    jobs = Jobs(workload)
    by_width = {name: _ordered(workload, jobs, width) for name, width in WIDTHS.items()}
    drawings = _drawings(by_width, pack, anchor)
    small = {name: charts(workload, width, ["answer"]) for name, width in _BESIDE.items()}
    beside = _drawings(small, pack, anchor)
    pack.notes["settings"] = jobs.noted()
    pack.add("costs", jobs.costs())
    pack.add("crossings of jobs", jobs.crossings())
    pack.add("processes", processes(cases))
    pack.add("samples", samples(cases))
    return Section(
        anchor=anchor,
        title=workload.title,
        about=group.about if group else cases[0].protocol.data_layout,
        answer=_said(workload.answer) if workload.answer else (),
        beside=beside[0] if beside else None,
        drawings=drawings,
        looks={name: look.colour for name, look in workload.looks.items()},
        pack=pack.text(),
        provenance=where,
        failures=group.failures if group else (),
        filled=group.filled if group else (),
        by_default=group.by_default if group else (),
        made=group.made if group else (),
    )


def _said(answer: Answer) -> tuple[Line, ...]:
    """Return the answer in words; of a scenario, why nothing is told by calls comes last."""
    said = lines(answer)
    return (*said[1:], *said[:1]) if answer.scenario else said


def _ordered(workload: Workload, jobs: Jobs, width: int) -> list[Chart]:
    """Return the figures of a section; that of a reader's own job follows the total time."""
    found = [chart for chart in charts(workload, width) if chart.id != "answer"]
    own = jobs.chart(width)
    ids = [chart.id for chart in found]
    place = ids.index("break_even") + 1 if "break_even" in ids else len(ids)
    return [*found[:place], *([own] if own else []), *found[place:]]


def of_charts(
    draw: Callable[[int], Sequence[Chart]],
    title: str,
    anchor: str,
    where: str,
    looks: Mapping[str, str] | None = None,
) -> Iterator[Section]:
    """Yield the section of figures that are drawn for a width; none where there is no figure."""
    pack = Pack()
    by_width = {name: draw(width) for name, width in WIDTHS.items()}
    drawings = _drawings(by_width, pack, anchor)
    if drawings:
        yield Section(
            anchor=anchor,
            title=title,
            about="",
            answer=(),
            beside=None,
            drawings=drawings,
            looks=looks or {},
            pack=pack.text(),
            provenance=where,
        )


def _drawings(
    by_width: Mapping[str, Sequence[Chart]], pack: Pack, anchor: str
) -> tuple[Drawing, ...]:
    """Put figures into a pack, drawn for each width; return their places."""
    found = {}
    stored: dict[str, object] = {}
    for name, drawn in by_width.items():
        for chart in drawn:
            note = pack.notes.setdefault(chart.id, {})
            note[name] = {"spec": chart.spec, "sets": {}}
            for named, rows in chart.data.items():
                # What depends on the width is stored for each of them.
                own = f"{named}, {name}" if stored.setdefault(named, rows) != rows else named
                pack.add(own, rows)
                note[name]["sets"][named] = own
            found[chart.id] = Drawing(
                id=f"{anchor}-{chart.id}",
                kind=chart.id,
                title=chart.title,
                caption=chart.caption,
                alt=chart.alt,
            )
    return tuple(found.values())


def _calls(cases: Sequence[CaseResult]) -> set[int]:
    """Return the numbers of calls that samples are the mean of."""
    seen = chain.from_iterable(case.observations for case in cases)
    return {block.batch for observation in seen for block in observation.blocks}
