"""What a call with a new shape takes, beside a first call and a warm one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.report.charts import warm
from coldwarm.report.charts.chart import Chart
from coldwarm.report.charts.marks import WIDTH, by_colour, candidates, data, rows, seconds
from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.charts.workload import Workload


_EMPTY: CacheMode = "cold_process_cold_cache"


class _Call(NamedTuple):
    """A call of one process: its ``first``, one with a ``new`` shape, or a ``warm`` one."""

    candidate: str
    kind: str
    process: int
    seconds: float


def _calls(cases: Sequence[CaseResult]) -> list[_Call]:
    """Return the calls of cases in which new shapes were measured; of warm ones the medians."""
    able = [case for case in cases if any(_new(case))]
    found = []
    for case in able:
        found += _new(case)
        found += [
            _Call(case.candidate, "first", number, first_s)
            for number, seen in enumerate(counted(case.observations, _EMPTY), 1)
            if (first_s := seen.phase_s("first_call")) is not None
        ]
    return found + [
        _Call(one.candidate, "warm", one.process, one.median_s) for one in warm.processes(able)
    ]


def _new(case: CaseResult) -> list[_Call]:
    return [
        _Call(case.candidate, "new", number, phase.duration_s)
        for number, seen in enumerate(counted(case.observations, _EMPTY), 1)
        for phase in seen.phases
        if phase.name.startswith("new_shape_")
    ]


_ROW = 30
_SHAPES = {"first": "triangle-up", "new": "circle", "warm": "square"}


def new_shape(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw calls with new shapes; ``None``: none were measured."""
    found = {"shape_calls": rows(_calls(workload.cases))}
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
            "height": {"step": _ROW},
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
