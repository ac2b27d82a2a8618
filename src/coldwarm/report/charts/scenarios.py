"""Share of whole loops that went into compiling: one figure for all scenarios of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.charts.chart import Chart
from coldwarm.report.charts.marks import WIDTH, by_colour, data, only, table, there
from coldwarm.report.words import COLD_MODES, MODE_NAMES
from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.charts.chart import Look, Row, Spec
    from coldwarm.report.charts.workload import Workload


def _shares(cases: Sequence[CaseResult]) -> Sequence[Row]:
    """Return the share (0..1) of each process of each scenario."""
    return table(
        "workload candidate cache_mode process share",
        (
            (case.workload, case.candidate, cold.cache_mode, number, seen.loop.compiling_share)
            for case in cases
            for cold in case.cold
            for number, seen in enumerate(counted(case.observations, cold.cache_mode), 1)
            if seen.loop is not None and seen.loop.compiling_share is not None
        ),
    )


def _medians(cases: Sequence[CaseResult]) -> Sequence[Row]:
    """Return the share of each scenario's candidates (0..1), and what the whole loop took."""
    return table(
        "workload candidate cache_mode share total_s",
        (
            (
                case.workload,
                case.candidate,
                cold.cache_mode,
                cold.compiling_share.median,
                cold.seconds["total"].median,
            )
            for case in cases
            for cold in case.cold
            if cold.compiling_share is not None and "total" in cold.seconds
        ),
    )


_ROW = 13


def compile_share(workloads: Sequence[Workload], width: int = WIDTH) -> Chart | None:
    """Draw the share of compiling in each scenario; ``None``: there is no scenario."""
    cases = [case for one in workloads for case in one.cases if case.scenario]
    found = {
        "loop_shares": _shares(cases),
        "loop_medians": _medians(cases),
    }
    if not found["loop_medians"]:
        return None
    looks = {name: look for one in workloads for name, look in one.looks.items()}
    modes = there(found["loop_medians"], "cache_mode", COLD_MODES)
    compiling = there(found["loop_medians"], "candidate", looks)
    names = list(dict.fromkeys(str(row["workload"]) for row in found["loop_medians"]))
    panel = (width - 24 * (len(modes) - 1)) // len(modes)
    return Chart(
        id="compile_share",
        title="Share of a whole loop spent compiling",
        caption=(
            "Of the wall clock from the start of a process to the end of its loop, the share of "
            "tracing, lowering, compiling and reading caches. A bar is the median, each dot one "
            "process. Far to the right with empty caches: in such a loop most of the time goes "
            "into compiling. Candidates that compile nothing have no bar."
        ),
        alt=_told(found["loop_medians"]),
        spec={
            "hconcat": [
                {
                    "title": MODE_NAMES[mode],
                    "width": panel,
                    "height": {"step": _ROW, "for": "offset"},
                    "layer": _layers(
                        mode, names, {n: looks[n] for n in compiling}, first=mode == modes[0]
                    ),
                }
                for mode in modes
            ],
            "spacing": 24,
            "resolve": {"scale": {"color": "shared"}},
        },
        data=found,
    )


def _told(medians: Sequence[Row]) -> str:
    return "Share of compiling, medians: " + "; ".join(
        f"{row['workload']}, {row['candidate']}, {MODE_NAMES[row['cache_mode']]}: "
        f"{row['share']:.0%}"
        for row in medians
    )


def _layers(mode: str, names: Sequence[str], of: Mapping[str, Look], *, first: bool) -> list[Spec]:
    x = {
        "type": "quantitative",
        "title": "share of the loop's wall clock",
        "scale": {"domain": [0, 1]},
        "axis": {"format": ".0%", "tickCount": 5, "labelFlush": False},
    }
    y: Spec = {"field": "workload", "type": "nominal", "sort": list(names), "title": None}
    if not first:
        y["axis"] = None
    offset = {"field": "candidate", "type": "nominal", "sort": list(of)}
    return [
        {
            "data": data("loop_medians"),
            "transform": only(cache_mode=mode),
            "mark": {"type": "bar"},
            "encoding": {
                "y": y,
                "yOffset": offset,
                "x": {**x, "field": "share"},
                "color": by_colour(of),
                "tooltip": [
                    {"field": "workload", "title": "scenario"},
                    {"field": "candidate", "title": "candidate"},
                    {"field": "share", "title": "share", "format": ".1%"},
                    {"field": "total_s", "title": "whole loop, s", "format": ".3~g"},
                ],
            },
        },
        {
            "data": data("loop_shares"),
            "transform": only(cache_mode=mode),
            "mark": {
                "type": "point",
                "style": "ink",
                "filled": True,
                "size": 10,
                "fillOpacity": 0.6,
                "strokeOpacity": 0,
            },
            "encoding": {"y": y, "yOffset": offset, "x": {**x, "field": "share"}},
        },
    ]
