"""Where the time of a start goes: its parts end to end, with every process over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.charts.chart import Chart
from coldwarm.report.charts.looks import PART_COLOURS
from coldwarm.report.charts.marks import (
    ROW,
    WIDTH,
    candidates,
    data,
    interval,
    only,
    over,
    process_dots,
    rows,
    seconds,
    there,
)
from coldwarm.report.charts.names import shown
from coldwarm.report.words import COLD_MODES, MODE_NAMES
from coldwarm.stats.drawn import cold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.report.charts.chart import Row, Spec
    from coldwarm.report.charts.workload import Workload

_PART_NAMES = {"cache_read": "read cache"}
"""What parts are called where it is not their own name."""
_POINTS = (
    "Each dot is one process; the upright stroke is their median, the line across it the median's "
    "95 % interval, or the range of so few that there is none."
)


def starts(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw the time from the start of a process to its result; ``None``: no start was measured."""
    loops = any(case.scenario for case in workload.cases)
    until = "to the end of its loop" if loops else "to its first result"
    found = {
        "cold_parts": rows(cold.parts(workload.cases)),
        "cold_wholes": rows(cold.wholes(workload.cases)),
        "cold_starts": rows(cold.starts(workload.cases)),
    }
    if not found["cold_wholes"] or not found["cold_parts"]:
        return None
    return Chart(
        id="cold",
        title=f"From the start of a process {until}",
        caption=(
            "Bars are the medians of the parts, end to end. Start is the interpreter, the devices "
            f"and the inputs; rest is dispatch, transfers and execution. {_POINTS} What is longer "
            "with empty caches than with filled ones is what a cache on disk saves."
            f"{_made(workload)}"
        ),
        alt=f"From the start of a process {until}, medians: {_medians(found['cold_wholes'])}.",
        spec=_panels(workload, found, width, f"seconds {until.replace('its', 'the')}"),
        data=found,
    )


def first_calls(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw the parts of the first call alone; ``None``: no start was measured."""
    loops = any(case.scenario for case in workload.cases)
    what = "whole loop" if loops else "first call"
    found = {
        "call_parts": rows(cold.call_parts(workload.cases)),
        "call_wholes": rows(cold.call_wholes(workload.cases)),
        "call_calls": rows(cold.calls(workload.cases)),
    }
    if not found["call_wholes"] or not found["call_parts"]:
        return None
    return Chart(
        id="first_call",
        title=f"Inside the {what}",
        caption=(
            f"The {what} alone, without start and imports: tracing the Python code, lowering it, "
            "compiling it or reading it from a cache, and the rest, which is dispatch, transfers "
            f"and execution. {_POINTS}{_made(workload)}"
        ),
        alt=f"Inside the {what}, medians: {_medians(found['call_wholes'])}.",
        spec=_panels(workload, found, width, f"seconds of the {what}"),
        data=found,
    )


def _made(workload: Workload) -> str:
    made = [shown(case.candidate) for case in workload.cases if case.made]
    if not made:
        return ""
    return f" What {', '.join(made)} compiled ahead of time is in no bar, only reading it."


def _medians(wholes: Sequence[Row]) -> str:
    return "; ".join(
        f"{row['candidate']}, {MODE_NAMES[row['cache_mode']]}: {units.duration(row['median_s'])}"
        for row in wholes
    )


def _panels(workload: Workload, found: Mapping[str, Sequence[Row]], width: int, title: str) -> Spec:
    """Return a panel for each state of the caches, one below the other on one axis."""
    parts, wholes, each = found
    y = candidates(list(workload.looks))
    modes = there(found[wholes], "cache_mode", COLD_MODES)
    used = there(found[parts], "part", (*cold.BEFORE, *cold.OF_CALL))
    names = [_PART_NAMES.get(part, part) for part in used]
    colour = {
        "field": "part",
        "type": "nominal",
        "title": None,
        "scale": {"domain": used, "range": [PART_COLOURS[part] for part in used]},
        "legend": {
            **over(names, width),
            "symbolType": "square",
            "symbolOpacity": 1,
            "labelExpr": _renamed(used, names),
        },
    }
    return {
        "vconcat": [
            {
                "title": MODE_NAMES[mode],
                "width": width,
                "height": {"step": ROW},
                "layer": [
                    _bars(parts, mode, workload, colour, title if mode == modes[-1] else ""),
                    *interval(wholes, only(cache_mode=mode), y, "s"),
                    process_dots(each, only(cache_mode=mode), y, "seconds"),
                ],
            }
            for mode in modes
        ],
        "spacing": 14,
        "resolve": {"scale": {"x": "shared", "color": "shared"}},
    }


def _renamed(values: Sequence[str], names: Sequence[str]) -> str:
    pairs = [f"datum.label === '{v}' ? '{n}'" for v, n in zip(values, names, strict=True) if v != n]
    return " : ".join([*pairs, "datum.label"])


def _bars(name: str, mode: str, workload: Workload, colour: Spec, title: str) -> Spec:
    return {
        "data": data(name),
        "transform": only(cache_mode=mode),
        "mark": {
            "type": "bar",
            "height": {"band": 0.66},
            "stroke": "#00000022",
            "strokeWidth": 0.5,
        },
        "encoding": {
            "y": candidates(list(workload.looks)),
            "x": seconds("start_s", title or None),
            "x2": {"field": "end_s"},
            "color": colour,
            "tooltip": [
                {"field": "candidate", "title": "candidate"},
                {"field": "part", "title": "part"},
                {"field": "seconds", "title": "median, s", "format": ".3~g"},
            ],
        },
    }
