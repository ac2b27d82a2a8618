"""Total time of a job by its number of calls, and where another candidate becomes cheapest."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from coldwarm.report.charts import strips
from coldwarm.report.charts.chart import Chart
from coldwarm.report.charts.marks import (
    CALLS_AXIS,
    WIDTH,
    by_colour,
    by_dash,
    data,
    line_of_totals,
    only,
    rows,
    seconds,
)
from coldwarm.report.words import MODE_NAMES
from coldwarm.stats import planning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.answer import Caches
    from coldwarm.report.charts.chart import Row, Spec
    from coldwarm.report.charts.workload import Workload
    from coldwarm.stats.planning import JobSetting

_TWO_COLUMNS = 480
"""Width from which two panels stand side by side."""
_GAP = 62
_HEIGHT = 165


@lru_cache(maxsize=2)
def _settings(workload: Workload) -> list[JobSetting]:
    return planning.settings(workload.cases)


def break_even(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw total time against calls; ``None``: a scenario, or there is no total."""
    settings = _settings(workload)
    wide = width >= _TWO_COLUMNS and len(settings) > 1
    panel = (width - _GAP) // 2 if wide else width
    rings = [ring for one in settings for ring in _rings(workload, one)]
    most = strips.last(workload, [one["calls"] for one in rings])
    found = {
        "totals": [row for row in rows(planning.totals(settings)) if row["calls"] <= most],
        "crossings": [row for row in rings if row["calls"] <= most],
        "cheapest": strips.ranges(workload, most, panel),
    }
    if not found["totals"]:
        return None
    return Chart(
        id="break_even",
        title="Total time by number of calls",
        caption=(
            "From the start of one process to the end of its last call, both axes logarithmic: "
            "flat at the left, where a line is all start, and rising where calls take over. The "
            "lowest line is the cheapest; a ring is where another one becomes it. Bands are 95 % "
            "intervals of the expected total, of fewer than five rounds what was seen. Lines are "
            "pale where calls are more than were measured: later ones are taken to cost what the "
            "last of those did. The strip below has the colour of the cheapest, of both where two "
            "may be, and is grey where more may be."
        ),
        alt=f"Total time by number of calls. {_told(found['crossings'])}",
        spec=_panels(workload, found, panel, most, 2 if wide else 1),
        data=found,
    )


def _rings(workload: Workload, one: JobSetting) -> list[Row]:
    """Return where another candidate becomes the cheapest, as the answer's rows guess it.

    Where the answer has no guess, that is where the lines cross.
    """
    reading = workload.answer and workload.answer.reading(strips.READINGS[one.caches][0])
    if not reading or not reading.estimates:
        return list(rows(planning.crossings([one])))
    guesses = [(guess.value, guess.cheapest) for guess in reading.estimates[1:]]
    return list(rows(planning.crossings([replace(one, crossings=guesses)])))


def _told(crossings: Sequence[Row]) -> str:
    if not crossings:
        return "No other candidate becomes the cheapest at any number of calls that is shown."
    return " ".join(
        f"With {_named(row['caches'])} {row['candidate']} is the cheapest "
        f"from {row['calls']:,} calls."
        for row in crossings
    )


def _named(caches: Caches) -> str:
    return MODE_NAMES[strips.READINGS[caches][1]]


def _panels(
    workload: Workload, found: Mapping[str, Sequence[Row]], panel: int, most: int, columns: int
) -> Spec:
    states = list(dict.fromkeys(row["caches"] for row in found["totals"]))
    has_strip = {row["caches"] for row in found["cheapest"]}
    return {
        "concat": [
            {
                "vconcat": [
                    _curves(
                        workload,
                        found,
                        caches,
                        panel,
                        most,
                        axis=caches not in has_strip,
                        whole=columns * panel,
                    ),
                    *(
                        [strips.strip(caches, most, panel, last=True, title=False)]
                        if caches in has_strip
                        else []
                    ),
                ],
                "spacing": 4,
                "title": _named(caches),
            }
            for caches in states
        ],
        "columns": columns,
        "spacing": 18,
        "resolve": {"legend": {"color": "shared"}, "scale": {"color": "shared"}},
    }


def _curves(  # noqa: PLR0913 - what a panel is made of
    workload: Workload,
    found: Mapping[str, Sequence[Row]],
    caches: Caches,
    width: int,
    most: int,
    *,
    axis: bool,
    whole: int,
) -> Spec:
    x = {
        "field": "calls",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [1, most], "nice": False},
        "title": "calls in one process" if axis else None,
        "axis": {
            "values": strips.powers(most, width),
            "labelExpr": CALLS_AXIS,
            "labels": axis,
        },
    }
    within = [row["total_s"] for row in found["totals"]]
    y = seconds("total_s", "total time (log scale)", log=True, within=within)
    y["axis"]["grid"] = True
    y["scale"] = {"type": "log", "nice": False, "domain": _domain(found["totals"])}
    colour = by_colour(workload.looks, whole)
    dash = by_dash(workload.looks)
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
        "layer": [
            {
                "data": data("totals"),
                "transform": [*only(caches=caches), {"filter": "isValid(datum.low_s)"}],
                "mark": {"type": "area", "interpolate": "monotone", "opacity": 0.16, "clip": True},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "low_s"},
                    "y2": {"field": "high_s"},
                    "color": colour,
                },
            },
            *line_of_totals(
                "totals",
                only(caches=caches),
                {"interpolate": "monotone"},
                {"x": x, "y": y, "color": colour, "strokeDash": dash, "tooltip": tooltip},
            ),
            {
                "data": data("crossings"),
                "transform": only(caches=caches),
                "mark": {
                    "type": "point",
                    "style": "ink",
                    "filled": False,
                    "size": 90,
                    "strokeWidth": 2,
                    "opacity": 1,
                },
                "encoding": {"x": x, "y": y, "tooltip": tooltip[:3]},
            },
        ],
    }


def _domain(found: Sequence[Row]) -> list[float]:
    lows = [row["total_s"] if row["low_s"] is None else row["low_s"] for row in found]
    least = min(row["total_s"] for row in found)
    return [max(min(lows), least / 2), max(row["total_s"] for row in found)]
