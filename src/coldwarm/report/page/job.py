"""The figure whose job its readers choose: calls, shapes, processes, the state of the caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldwarm.report.charts.chart import Chart
from coldwarm.report.charts.columns import Columns
from coldwarm.report.charts.looks import dash_scale
from coldwarm.report.charts.marks import CALLS_AXIS, by_colour, line_of_totals, rows, seconds
from coldwarm.report.charts.names import shown
from coldwarm.stats.costs import gather
from coldwarm.stats.plan_grid import MOST_CALLS, crossings, grid, totals

if TYPE_CHECKING:
    from coldwarm.report.charts.chart import Row, Spec
    from coldwarm.report.charts.workload import Workload

_HEIGHT = 260
_POWERS = range(-9, 10)
"""Of ten, at which the axis of seconds has a line."""


class Jobs:
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
