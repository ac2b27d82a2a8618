"""A sweep of sizes as figures: what a warm call costs, and who is the cheapest for which job."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from coldwarm.report import sweep
from coldwarm.report.charts.chart import UNKNOWN, Chart, looks, shown, standing_alone
from coldwarm.report.charts.marks import (
    CALLS_AXIS,
    WIDTH,
    by_colour,
    by_dash,
    data,
    seconds,
    table,
    ticks,
)
from coldwarm.report.words import MODE_NAMES
from coldwarm.stats.sweeps import MODES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.base import Reading
    from coldwarm.contracts.sweep import SizePoint, Slice, SweepReport
    from coldwarm.report.charts.chart import Spec

    _Edge = tuple[int, int]
    """Numbers of calls from which and to which."""
    _Ranges = list[tuple[int, str]]

_HEIGHT = 240
_MAP_HEIGHT = 170
_MOST_CALLS = 10**7
"""Up to so many calls the map goes."""
_MOST_TICKS = 9
_CANNOT_TELL = "not decided"
_SOURCE = "measured here"


def charts(report: SweepReport, one: Slice, width: int = WIDTH) -> list[Chart]:
    """Return the figures of a sweep that it has numbers for."""
    found = (draw(report, one, width) for draw in (decisions, curves))
    return [chart for chart in found if chart is not None]


def named(report: SweepReport) -> Iterator[tuple[str, Chart]]:
    """Yield the figures of a sweep, each with a name that a file may have."""
    for number, one in enumerate(report.slices, 1):
        before = f"{number}-" if len(report.slices) > 1 else ""
        for chart in charts(report, one):
            alone = standing_alone(chart, sweep.title(report, one), _SOURCE, "")
            yield f"{before}{chart.id}", alone


def curves(report: SweepReport, one: Slice, width: int = WIDTH) -> Chart | None:
    """Draw a warm call by size, with its interval; ``None``: none was measured."""
    found = (
        table(
            "candidate size call_s low_s high_s",
            (
                (name, point.size, call.median, call.low, call.high)
                for point in one.points
                for name, call in point.call.items()
            ),
        )
        if any(point.call for point in one.points)
        else None
    )
    if found is None:
        return None
    known = looks([shown(name) for name in one.candidates])
    x = _size_axis(report)
    y = seconds("call_s", "warm call", log=True, within=[row["call_s"] for row in found])
    y["axis"]["grid"] = True
    encoding: Spec = {
        "x": x,
        "y": y,
        "color": by_colour(known, width),
        "strokeDash": by_dash(known),
    }
    tooltip = [
        {"field": "candidate", "title": "candidate"},
        {"field": "size", "title": report.name, "format": ","},
        {"field": "call_s", "title": "warm call, s", "format": ".3~g"},
    ]
    band = {**encoding, "y": {**y, "field": "low_s"}, "y2": {"field": "high_s"}}
    del band["strokeDash"]
    return Chart(
        id="by_size",
        title=f"Warm call by {report.name}",
        caption=(
            "Medians of processes, both axes logarithmic, with the range of what was seen, or its "
            "95 % interval from five processes on."
        ),
        alt=f"Warm call by {report.name} of {', '.join(known)}.",
        spec={
            "width": width,
            "height": _HEIGHT,
            "layer": [
                {
                    "data": data("calls"),
                    "transform": [{"filter": "isValid(datum.low_s)"}],
                    "mark": {"type": "area", "opacity": 0.16},
                    "encoding": band,
                },
                {
                    "data": data("calls"),
                    "mark": {"type": "line", "strokeWidth": 2, "point": True},
                    "encoding": {**encoding, "tooltip": tooltip},
                },
            ],
        },
        data={"calls": found},
    )


def decisions(report: SweepReport, one: Slice, width: int = WIDTH) -> Chart | None:
    """Draw who is the cheapest by size and calls; ``None``: starts were not measured."""
    found = [*_areas(one)]
    if not found:
        return None
    known = looks([shown(name) for name in one.candidates])
    colours = [known[name].colour for name in known]
    scale = {"domain": [*known, _CANNOT_TELL], "range": [*colours, UNKNOWN]}
    states = list(dict.fromkeys(row[1] for row in found))
    panel: Spec = {
        "width": width,
        "height": _MAP_HEIGHT,
        "data": data("areas"),
        "mark": {"type": "area", "clip": True, "opacity": 1},
        "encoding": {
            "x": _size_axis(report),
            "detail": {"field": "area", "type": "nominal"},
            "y": {
                "field": "from_calls",
                "type": "quantitative",
                "scale": {"type": "log", "domain": [1, _MOST_CALLS], "nice": False},
                "title": "calls in one process",
                "axis": {"labelExpr": CALLS_AXIS, "tickCount": 7},
            },
            "y2": {"field": "to_calls"},
            "color": {
                "field": "cheapest",
                "type": "nominal",
                "title": None,
                "scale": scale,
                "legend": {"orient": "top"},
            },
            "tooltip": [{"field": "cheapest", "title": "cheapest"}],
        },
    }
    return Chart(
        id="decisions",
        title=f"The cheapest by {report.name} and calls",
        caption=(
            "Find your size and your number of calls in one process: the colour is the candidate "
            "with which the process costs least in all; grey is where more than one may be. "
            f"Measured were {_measured(one)}; between these, edges are taken to be straight. Calls "
            "beyond those that were measured are taken to cost what the last of those did."
        ),
        alt=f"The cheapest candidate by {report.name} and number of calls.",
        spec={
            "vconcat": [
                {
                    **panel,
                    "transform": [{"filter": {"field": "caches", "equal": state}}],
                    "title": state,
                }
                for state in states
            ],
            "spacing": 18,
        },
        data={"areas": table("area caches cheapest size from_calls to_calls", found)},
    )


def _size_axis(report: SweepReport) -> Spec:
    return {
        "field": "size",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [report.low, report.high], "nice": False},
        "title": report.name,
        "axis": {
            "labelExpr": CALLS_AXIS,
            "values": ticks([report.low, report.high], _MOST_TICKS),
        },
    }


def _areas(one: Slice) -> Iterator[tuple[int, str, str, int, int, int]]:
    """Yield two edges for each area between neighbouring sizes, with who is the cheapest there.

    Where both sizes have the same candidates one after the other, from each number of calls on that
    they have it; else an area has who is the cheapest at both.
    """
    told = [point for point in one.points if point.answer is not None]
    number = 0
    for reading, mode in MODES.items():
        for before, after in pairwise(told):
            sides = [_ranges(side, reading) for side in (before, after)]
            for name, *edges in _between(*sides) if all(sides) else ():
                number += 1
                for size, (low, high) in zip((before.size, after.size), edges, strict=True):
                    yield number, MODE_NAMES[mode], name, size, low, high


def _between(first: _Ranges, second: _Ranges) -> Iterator[tuple[str, _Edge, _Edge]]:
    """Yield who is the cheapest in an area, and its numbers of calls at both sizes."""
    if [name for _, name in first] == [name for _, name in second]:
        for (_, name), before, after in zip(first, _edges(first), _edges(second), strict=True):
            yield name, before, after
        return
    begins = sorted({begin for begin, _ in (*first, *second)})
    for low, high in pairwise([*begins, _MOST_CALLS]):
        names = {_at(side, low) for side in (first, second)}
        yield names.pop() if len(names) == 1 else _CANNOT_TELL, (low, high), (low, high)


def _edges(ranges: _Ranges) -> Iterator[_Edge]:
    yield from pairwise([*(begin for begin, _ in ranges), _MOST_CALLS])


def _measured(one: Slice) -> str:
    return ", ".join(f"{point.size:,}" for point in one.points if point.answer is not None)


def _ranges(point: SizePoint, reading: Reading) -> _Ranges:
    """Return from which number of calls on who is the cheapest; the same name never twice."""
    by = point.answer.reading(reading) if point.answer else None
    found: _Ranges = []
    for one in by.ranges if by else ():
        name = one.cheapest or _CANNOT_TELL
        if one.from_calls < _MOST_CALLS and (not found or found[-1][1] != name):
            found.append((one.from_calls, name))
    return found


def _at(ranges: _Ranges, calls: int) -> str:
    return [name for begin, name in ranges if begin <= calls][-1]
