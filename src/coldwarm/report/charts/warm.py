"""Warm calls: every sample, how they are distributed, how they went, and what a new shape costs."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, repeat
from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.charts.chart import Chart
from coldwarm.report.charts.marks import (
    WIDTH,
    by_colour,
    by_dash,
    candidates,
    data,
    only,
    seconds,
    table,
    there,
)
from coldwarm.stats.intervals import median_of
from coldwarm.stats.selection import counted, warm_processes
from coldwarm.stats.steady import steady_places

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.charts.chart import Columns, Spec
    from coldwarm.report.charts.workload import Workload


@lru_cache(maxsize=2)
def _samples(workload: Workload) -> Columns:
    """Return all samples of the processes that figures are from, kept and left out.

    ``at`` is the place of a sample with the processes before it laid end to end. Of ``steady`` ones
    are the figures of the process; ``warming`` were made before it became steady.
    """
    found: list[Iterable[tuple[object, ...]]] = []
    for case in workload.cases:
        begins = 0
        for number, process in enumerate(warm_processes(case.observations), 1):
            blocks = [block.samples_s for block in process.blocks]
            n_samples = sum(map(len, blocks))
            kept = steady_places(blocks)
            steady = [False] * n_samples
            for place in kept:
                steady[place] = True
            # A result may have hundreds of thousands: each is made as quickly as can be.
            found.append(
                zip(
                    repeat(case.candidate),
                    repeat(number),
                    range(n_samples),
                    range(begins, begins + n_samples),
                    chain.from_iterable(blocks),
                    steady,
                    chain(repeat(True, kept[0]), repeat(False)),  # noqa: FBT003 - values
                    strict=False,
                )
            )
            begins += n_samples
    names = "candidate process place at seconds steady warming"
    return table(names, chain.from_iterable(found))


def _processes(cases: Sequence[CaseResult]) -> Columns:
    """Return the processes that figures are from, what a call took in each when it was steady.

    ``begins`` and ``steady_at`` are places with the processes before it laid end to end,
    ``steady_from`` is the place of its first sample that figures are from.
    """
    found = []
    for case in cases:
        begins = 0
        for number, process in enumerate(warm_processes(case.observations), 1):
            blocks = [block.samples_s for block in process.blocks]
            first, n_samples = steady_places(blocks)[0], sum(map(len, blocks))
            steady, median_s = process.steadiness.steady, median_of(process.steadiness.samples)
            places = (begins, first, begins + first, n_samples)
            found.append((case.candidate, number, steady, *places, median_s))
            begins += n_samples
    names = "candidate process steady begins steady_from steady_at n_samples median_s"
    return table(names, found)


def _calls(cases: Sequence[CaseResult]) -> Columns:
    """Return what a warm call of each case takes, with its interval or the range of so few."""
    known = [(case.candidate, case.warm, case.warm.call_s) for case in cases if case.warm]
    return table(
        "candidate median_s low_s high_s n_processes steady",
        (
            (name, call.median, call.low, call.high, call.n_processes, warm.steady.steady)
            for name, warm, call in known
            if call
        ),
    )


_POINTS_ROW = 30
_SERIES_ROW = 70
_MOST_POINTS = 10_000
_AXIS = "seconds of one call (log scale)"
_TOOLTIP = [
    {"field": "candidate", "title": "candidate"},
    {"field": "process", "title": "process"},
    {"field": "place", "title": "sample"},
    {"field": "seconds", "title": "s", "format": ".4~g"},
]


def _within(samples: Columns, **held: str | bool) -> list[float]:
    """Return the seconds of the samples that have this value of a field."""
    (field, value), *_ = held.items()
    pairs = zip(samples.columns["seconds"], samples.columns[field], strict=True)
    return [taken_s for taken_s, found in pairs if found == value]


def points(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw every steady sample and the median; ``None``: no warm call was measured."""
    found = {
        "warm_samples": _samples(workload),
        "warm_calls": _calls(workload.cases),
    }
    if not found["warm_calls"]:
        return None
    every = -(-len(found["warm_samples"]) // _MOST_POINTS)
    return Chart(
        id="warm_points",
        title="Warm calls: every sample",
        caption=(
            "Each small stroke is a sample in the steady state; every process has a line of its "
            "own within its candidate's row. The tall stroke is the median of the processes' "
            "medians, the line across it its 95 % interval, or the range of so few that there is "
            "none. Further left is faster; lines apart from each other say that processes "
            f"differ more than calls within one do.{_said(every)}"
        ),
        alt=f"Seconds of a warm call, medians: {_medians(found['warm_calls'])}.",
        spec=_points(workload, found, every, width),
        data=found,
    )


def _medians(calls: Columns) -> str:
    return "; ".join(f"{row['candidate']}: {units.duration(row['median_s'])}" for row in calls)


def _said(every: int) -> str:
    return f" Of so many samples, one in {every} is drawn." if every > 1 else ""


def _points(workload: Workload, found: Mapping[str, Columns], every: int, width: int) -> Spec:
    y = candidates(list(workload.looks))
    within = _within(found["warm_samples"], steady=True)
    thin = [{"filter": f"datum.place % {every} === 0"}] if every > 1 else []
    dots = {
        "data": data("warm_samples"),
        "transform": [*only(steady=True), *thin],
        "mark": {"type": "tick", "thickness": 1.4, "height": 4, "fillOpacity": 0.4},
        "encoding": {
            "y": y,
            "yOffset": {"field": "process", "type": "ordinal", "scale": {"paddingOuter": 0.5}},
            "x": seconds("seconds", _AXIS, log=True, within=within),
            "color": {**by_colour(workload.looks, width), "legend": None},
            "tooltip": _TOOLTIP,
        },
    }
    across = {
        "data": data("warm_calls"),
        "transform": [{"filter": "isValid(datum.low_s)"}],
        "mark": {"type": "rule", "style": "ink", "strokeWidth": 1.4},
        "encoding": {
            "y": y,
            "x": seconds("low_s", _AXIS, log=True, within=within),
            "x2": {"field": "high_s"},
        },
    }
    median = {
        "data": data("warm_calls"),
        "mark": {"type": "tick", "style": "ink", "thickness": 2, "height": {"band": 0.95}},
        "encoding": {
            "y": y,
            "x": seconds("median_s", _AXIS, log=True, within=within),
            "tooltip": [
                {"field": "candidate", "title": "candidate"},
                {"field": "median_s", "title": "median, s", "format": ".4~g"},
                {"field": "low_s", "title": "from, s", "format": ".4~g"},
                {"field": "high_s", "title": "to, s", "format": ".4~g"},
                {"field": "n_processes", "title": "processes"},
            ],
        },
    }
    height = {"step": _POINTS_ROW, "for": "position"}
    return {"width": width, "height": height, "layer": [dots, across, median]}


def ecdf(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw which share of the steady samples is at most so long."""
    found = {"warm_samples": _samples(workload)}
    if not found["warm_samples"]:
        return None
    many = len(workload.looks) > 1
    within = _within(found["warm_samples"], steady=True)
    return Chart(
        id="warm_ecdf",
        title="Warm calls: share of samples up to a time",
        caption=(
            "For each time, the share of steady samples that took at most as long; all processes "
            "of a candidate together. A line further left is faster, a steep one steady, a step in "
            "it two speeds, and a long flat end at the top rare slow calls."
            + (
                " Where two lines cross, the one is faster often and slower at times."
                if many
                else ""
            )
        ),
        alt="Cumulative distribution of the seconds of a warm call, a line for each candidate.",
        spec={
            "width": width,
            "height": 150,
            "data": data("warm_samples"),
            "transform": [
                *only(steady=True),
                {
                    "window": [{"op": "cume_dist", "as": "share"}],
                    "sort": [{"field": "seconds"}],
                    "groupby": ["candidate"],
                },
            ],
            "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
            "encoding": {
                "x": seconds("seconds", _AXIS, log=True, within=within),
                "y": {
                    "field": "share",
                    "type": "quantitative",
                    "title": "share of samples",
                    "axis": {"format": ".0%", "grid": True, "values": [0, 0.25, 0.5, 0.75, 1]},
                },
                "color": by_colour(workload.looks, width),
                "strokeDash": by_dash(workload.looks),
            },
        },
        data=found,
    )


def series(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw the samples of each process in their order, and from where it was steady."""
    found = {
        "warm_samples": _samples(workload),
        "warm_processes": _processes(workload.cases),
    }
    if not found["warm_samples"]:
        return None
    moving = [row for row in found["warm_processes"] if not row["steady"]]
    return Chart(
        id="warm_series",
        title="Warm calls over time",
        caption=(
            "Samples in the order in which they were made, the processes of a candidate one after "
            "the other, apart by upright lines. Grey is warm-up, and in no figure; colour begins "
            "where the process became steady, at the triangle. A process without a triangle never "
            "did: its second half stands for it. Grey dots later on are first calls after a pause, "
            "left out too. Each candidate has a scale of its own; what matters here is the form: "
            "flat is steady."
        ),
        alt=(
            f"Samples over time of {len(found['warm_processes'])} processes, of which "
            f"{len(moving)} did not become steady."
        ),
        spec=_series(workload, found, width),
        data=found,
    )


def _series(workload: Workload, found: Mapping[str, Columns], width: int) -> Spec:
    names = there(found["warm_processes"], "candidate", workload.looks)
    return {
        "vconcat": [
            {
                "title": {"text": name, "fontSize": 11, "fontWeight": "normal"},
                "width": width,
                "height": _SERIES_ROW,
                "layer": [
                    _between(name),
                    _line(name, None, found, last=name == names[-1]),
                    _line(name, workload.looks[name].colour, found, last=name == names[-1]),
                    _aside(name),
                    _steady_from(name),
                ],
            }
            for name in names
        ],
        "spacing": 8,
    }


def _line(name: str, colour: str | None, found: Mapping[str, Columns], *, last: bool) -> Spec:
    """Draw the samples that figures are from in a colour, those before in grey."""
    own = _within(found["warm_samples"], candidate=name)
    y = seconds("seconds", "", log=True, within=own, most=4)
    y["axis"] |= {"grid": True, "minExtent": 52}
    steady = colour is not None
    mark: Spec = {"type": "line", "strokeWidth": 0.9}
    return {
        "data": data("warm_samples"),
        "transform": only(candidate=name, **{"steady" if steady else "warming": True}),
        "mark": {**mark, "color": colour} if steady else {**mark, "style": "faint"},
        "encoding": {
            "x": {
                "field": "at",
                "type": "quantitative",
                "title": "samples, one process after the other" if last else None,
                "scale": {"nice": False},
                "axis": {"tickCount": 6, "grid": False},
            },
            "y": {**y, "title": None},
            "detail": {"field": "process", "type": "nominal"},
        },
    }


def _aside(name: str) -> Spec:
    return {
        "data": data("warm_samples"),
        "transform": only(candidate=name, steady=False, warming=False),
        "mark": {
            "type": "point",
            "style": "faint",
            "filled": True,
            "size": 4,
            "fillOpacity": 0.8,
            "strokeOpacity": 0,
        },
        "encoding": {
            "x": {"field": "at", "type": "quantitative"},
            "y": {"field": "seconds", "type": "quantitative"},
            "tooltip": _TOOLTIP,
        },
    }


def _between(name: str) -> Spec:
    return {
        "data": data("warm_processes"),
        "transform": only(candidate=name),
        "mark": {"type": "rule", "style": "faint", "strokeWidth": 0.7, "strokeDash": [2, 2]},
        "encoding": {"x": {"field": "begins", "type": "quantitative"}},
    }


def _steady_from(name: str) -> Spec:
    return {
        "data": data("warm_processes"),
        "transform": only(candidate=name, steady=True),
        "mark": {
            "type": "point",
            "shape": "triangle-down",
            "style": "ink",
            "filled": True,
            "size": 40,
            "fillOpacity": 1,
            "strokeOpacity": 0,
        },
        "encoding": {
            "x": {"field": "steady_at", "type": "quantitative"},
            "y": {"value": 0},
            "tooltip": [
                {"field": "process", "title": "process"},
                {"field": "steady_from", "title": "steady from sample"},
                {"field": "n_samples", "title": "of samples"},
                {"field": "median_s", "title": "median, s", "format": ".4~g"},
            ],
        },
    }


_EMPTY: CacheMode = "cold_process_cold_cache"


def _new_shapes(cases: Sequence[CaseResult]) -> Columns:
    """Return the ``first`` calls of processes, those with a ``new`` shape, and ``warm`` medians.

    Cases in which no new shape was measured have none.
    """
    able, found = [], []
    for case in cases:
        starts = list(enumerate(counted(case.observations, _EMPTY), 1))
        new = [
            (case.candidate, "new", number, phase.duration_s)
            for number, seen in starts
            for phase in seen.phases
            if phase.name.startswith("new_shape_")
        ]
        if new:
            able.append(case)
            found += new
            found += [
                (case.candidate, "first", number, first_s)
                for number, seen in starts
                if (first_s := seen.phase_s("first_call")) is not None
            ]
    found += [
        (row["candidate"], "warm", row["process"], row["median_s"]) for row in _processes(able)
    ]
    return table("candidate kind process seconds", found)


_SHAPES = {"first": "triangle-up", "new": "circle", "warm": "square"}


def new_shape(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw calls with new shapes; ``None``: none were measured."""
    found = {"shape_calls": _new_shapes(workload.cases)}
    if not found["shape_calls"]:
        return None
    within = [row["seconds"] for row in found["shape_calls"]]
    return Chart(
        id="new_shape",
        title="What a new shape costs",
        caption=(
            "Calls of processes with empty caches: a triangle is the first call of all, a circle "
            "one with a shape that its process had not seen, a square the median warm call. "
            "Circles beside the squares: a new shape costs nothing. Circles beside the triangles: "
            "each new shape is compiled again."
        ),
        alt="Seconds of first calls, of calls with new shapes and of warm calls, by candidate.",
        spec={
            "width": width,
            "height": {"step": _POINTS_ROW},
            "data": data("shape_calls"),
            "mark": {
                "type": "point",
                "filled": True,
                "size": 46,
                "fillOpacity": 0.6,
                "strokeOpacity": 0,
            },
            "encoding": {
                "y": candidates(list(workload.looks)),
                "x": seconds("seconds", "seconds of a call (log scale)", log=True, within=within),
                "color": {**by_colour(workload.looks, width), "legend": None},
                "shape": {
                    "field": "kind",
                    "type": "nominal",
                    "title": None,
                    "scale": {"domain": list(_SHAPES), "range": list(_SHAPES.values())},
                    "legend": {
                        "orient": "top",
                        "direction": "horizontal",
                        "labelExpr": "{first: 'first call', new: 'new shape', warm: 'warm call'}"
                        "[datum.label]",
                    },
                },
                "tooltip": [
                    {"field": "candidate", "title": "candidate"},
                    {"field": "kind", "title": "call"},
                    {"field": "process", "title": "process"},
                    {"field": "seconds", "title": "s", "format": ".4~g"},
                ],
            },
        },
        data=found,
    )
