"""Sections of the page: a workload's answer and its figures, with their data packed."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from coldwarm.contracts.observation import PARTS
from coldwarm.errors import printable
from coldwarm.report import filled
from coldwarm.report.answer_text import lines
from coldwarm.report.charts.chart import Chart, Columns, dash_scale, shown
from coldwarm.report.charts.every import charts
from coldwarm.report.charts.marks import CALLS_AXIS, by_colour, line_of_totals, rows, seconds
from coldwarm.report.document import Folded, Paragraph, terms
from coldwarm.report.page.packing import Pack
from coldwarm.report.page.template import WIDTHS, Drawing, Section
from coldwarm.report.sentences import words
from coldwarm.report.words import MADE_TITLE
from coldwarm.stats.costs import gather
from coldwarm.stats.planning import MOST_CALLS, crossings, grid, totals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import Answer
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.answer_text import Line
    from coldwarm.report.charts.chart import Row, Spec
    from coldwarm.report.charts.workload import Workload
    from coldwarm.report.document import Block
    from coldwarm.report.view import Group


_DataRow = dict[str, str | float | int | bool | None]
_T = TypeVar("_T")


def _processes(cases: Sequence[CaseResult]) -> list[_DataRow]:
    """Return all processes of the cases in their order, rejected and failed ones too."""
    return [_row(case, seen) for case in cases for seen in case.observations]


def _samples(cases: Sequence[CaseResult]) -> Columns:
    """Return every sample of warm calls, those before the steady state too."""
    blocks = [
        (case.candidate, seen.order, block)
        for case in cases
        for seen in case.observations
        for block in seen.blocks
    ]
    each = [len(block.samples_s) for _, _, block in blocks]
    return Columns(
        {
            "candidate": _times(each, [candidate for candidate, _, _ in blocks]),
            "order": _times(each, [order for _, order, _ in blocks]),
            "block": _times(each, [block.order for _, _, block in blocks]),
            "batch": _times(each, [block.batch for _, _, block in blocks]),
            "call_s": list(chain.from_iterable(block.samples_s for _, _, block in blocks)),
        }
    )


def _times(numbers: Sequence[int], values: Sequence[_T]) -> list[_T]:
    """Return each value so many times."""
    return list(chain.from_iterable(map(repeat, values, numbers)))


def _row(case: CaseResult, seen: Observation) -> _DataRow:
    row: dict[str, Any] = {
        "case": case.case,
        "candidate": case.candidate,
        "cache_mode": seen.cache_mode,
        "also_modes": " ".join(seen.also_modes),
        "round": seen.round,
        "attempt": seen.attempt,
        "order": seen.order,
        "allocator": seen.allocator,
        "cache_settings": seen.cache_settings,
        "turns": seen.turns,
        "status": seen.status,
        "reason": printable(words(seen.reason)) if seen.reason else None,
        "wall_s": seen.wall_s,
        "ttfr_s": seen.ttfr_s,
        "ttfr_process_s": seen.ttfr_process_s,
        "peak_rss_bytes": seen.peak_rss_bytes,
    }
    row |= {f"{phase.name}_s": phase.duration_s for phase in seen.phases}
    if seen.first_call_parts is not None:
        names = (*PARTS, "rest_s")
        row |= {f"first_call.{name}": getattr(seen.first_call_parts, name) for name in names}
    return row


_HEIGHT = 260
_POWERS = range(-9, 10)
"""Powers of ten at which the axis of seconds has a line."""


class _Jobs:
    """The settings of a workload that its readers choose among."""

    def __init__(self, workload: Workload) -> None:
        """Cost them all."""
        self.workload = workload
        cases = workload.cases
        modes = {mode for case in cases for mode in case.protocol.cache_modes}
        able = bool(cases) and not cases[0].scenario
        self.settings = grid(gather(workload.title, cases).known, modes) if able else []

    def noted(self) -> list[dict[str, Any]]:
        """Return what each setting is."""
        return [
            {"caches": one.caches, "shapes": one.shapes, "processes": one.processes}
            for one in self.settings
        ]

    def costs(self) -> Columns:
        """Return the totals of all settings, and whether each is the lowest and told apart."""
        found: dict[str, list[Any]] = {}
        for place, one in enumerate(self.settings):
            columns = dict(rows(totals([one])).columns)
            at = {calls: number for number, calls in enumerate(one.calls)}
            best = [shown(name) for name in one.cheapest]
            columns["setting"] = [place] * len(columns["calls"])
            columns["cheapest"] = [
                name == best[at[calls]]
                for name, calls in zip(columns["candidate"], columns["calls"], strict=True)
            ]
            columns["told_apart"] = [one.told_apart[at[calls]] for calls in columns["calls"]]
            for name, column in columns.items():
                found.setdefault(name, []).extend(column)
        return Columns(found)

    def crossings(self) -> list[Row]:
        """Return where another candidate is the cheapest in each setting."""
        return [
            {"setting": place, **row}
            for place, one in enumerate(self.settings)
            for row in rows(crossings([one]))
        ]

    def chart(self, width: int) -> Chart | None:
        """Draw the first setting; ``None``: there is none."""
        if not self.settings:
            return None
        first = self.settings[0]
        found = {
            "job_totals": rows(totals([first])),
            "job_crossings": rows(crossings([first])),
            "job_calls": [{"calls": 1000}],
        }
        return Chart(
            id="job",
            title="Your own job",
            caption=(
                "Choose how your program runs. Lines are the expected total of all its processes, "
                "pale where calls are more than were measured, bands their 95 % intervals; a ring "
                "is where another candidate becomes the cheapest, the upright line the number of "
                "calls that you chose. Where what a new shape costs was not measured, the band "
                "covers everything from nothing to a whole first call."
            ),
            alt="Total time of a job by number of calls, a line for each candidate. The table "
            "below has the totals at the number of calls that is chosen.",
            spec=_spec(self.workload, width),
            data=found,
        )


def _spec(workload: Workload, width: int) -> Spec:
    powers = [10**power for power in range(len(str(MOST_CALLS)))]
    x: Spec = {
        "field": "calls",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [1, MOST_CALLS], "nice": False},
        "title": "calls in each process",
        "axis": {"values": powers, "labelExpr": CALLS_AXIS},
    }
    y = seconds("total_s", "total time (log scale)", log=True)
    # Which totals are shown changes with the job.
    y["axis"] = {**y["axis"], "grid": True, "values": [10.0**power for power in _POWERS]}
    colour = by_colour(workload.looks, width)
    tooltip = [
        {"field": "candidate", "title": "candidate"},
        {"field": "calls", "title": "calls", "format": ","},
        {"field": "total_s", "title": "total, s", "format": ".3~g"},
        {"field": "low_s", "title": "from, s", "format": ".3~g"},
        {"field": "high_s", "title": "to, s", "format": ".3~g"},
        {"field": "extrapolated", "title": "extrapolated"},
    ]
    return {
        "width": width,
        "height": _HEIGHT,
        "resolve": {"legend": {"color": "independent"}},
        "layer": [
            {
                "data": {"name": "job_calls"},
                "mark": {"type": "rule", "style": "faint", "strokeWidth": 1.5},
                "encoding": {"x": x},
            },
            {
                "data": {"name": "job_totals"},
                "transform": [{"filter": "isValid(datum.low_s)"}],
                "mark": {"type": "area", "opacity": 0.16, "clip": True},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "low_s"},
                    "y2": {"field": "high_s"},
                    "color": {**colour, "legend": None},
                },
            },
            *line_of_totals(
                "job_totals",
                [],
                {},
                {
                    "x": x,
                    "y": y,
                    "color": colour,
                    "strokeDash": {
                        "field": "candidate",
                        "type": "nominal",
                        "scale": dash_scale(workload.looks),
                        "legend": None,
                    },
                    "tooltip": tooltip,
                },
            ),
            {
                "data": {"name": "job_crossings"},
                "mark": {
                    "type": "point",
                    "style": "ink",
                    "filled": False,
                    "size": 90,
                    "opacity": 1,
                },
                "encoding": {"x": x, "y": y, "tooltip": tooltip[:3]},
            },
        ],
    }


_BESIDE = {"wide": 330, "narrow": 240}
"""Width of the figure beside an answer."""


def section(workload: Workload, group: Group | None, anchor: str, where: str) -> Section:
    """Return the section of a workload."""
    cases = workload.cases
    pack = Pack(_calls(cases))
    jobs = _Jobs(workload)
    by_width = {name: _ordered(workload, jobs, width) for name, width in WIDTHS.items()}
    drawings = _drawings(by_width, pack, anchor)
    small = {name: charts(workload, width, ["answer"]) for name, width in _BESIDE.items()}
    beside = _drawings(small, pack, anchor)
    pack.notes["settings"] = jobs.noted()
    pack.add("costs", jobs.costs())
    pack.add("crossings of jobs", jobs.crossings())
    pack.add("processes", _processes(cases))
    pack.add("samples", _samples(cases))
    return Section(
        anchor=anchor,
        title=workload.title,
        answer=_said(workload.answer) if workload.answer else (),
        beside=beside[0] if beside else None,
        drawings=drawings,
        looks={name: look.colour for name, look in workload.looks.items()},
        pack=pack.text(),
        source=where,
        before=tuple(_before(workload, group)),
        after=tuple(_after(group)) if group else (),
    )


def _before(workload: Workload, group: Group | None) -> Iterator[Block]:
    about = group.about if group else workload.cases[0].protocol.data_layout
    yield Paragraph(about, "dim")
    for failure in group.failures if group else ():
        yield Paragraph(failure, "failure")


def _after(group: Group) -> Iterator[Block]:
    if group.filled:
        settings = tuple(filled.blocks(group.filled, group.by_default))
        yield Folded(filled.FILLED_TITLE, settings[1:])
    if group.made:
        yield Folded(MADE_TITLE, tuple(terms(group.made)))


def _said(answer: Answer) -> tuple[Line, ...]:
    """Return the answer in words; of a scenario, why nothing is told by calls comes last."""
    said = lines(answer)
    return (*said[1:], *said[:1]) if answer.scenario else said


def _ordered(workload: Workload, jobs: _Jobs, width: int) -> list[Chart]:
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
            answer=(),
            beside=None,
            drawings=drawings,
            looks=looks or {},
            pack=pack.text(),
            source=where,
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
            for named, found_rows in chart.data.items():
                # What depends on the width is stored for each of them.
                own = (
                    f"{named}, {name}"
                    if stored.setdefault(named, found_rows) != found_rows
                    else named
                )
                pack.add(own, found_rows)
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
