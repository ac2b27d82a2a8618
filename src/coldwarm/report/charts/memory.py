"""Peak memory of fresh processes, by what raised it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.charts.chart import Chart
from coldwarm.report.charts.looks import STAGE_COLOURS
from coldwarm.report.charts.marks import (
    ROW,
    WIDTH,
    candidates,
    data,
    interval,
    n_bytes,
    only,
    over,
    process_dots,
    rows,
    there,
)
from coldwarm.report.words import COLD_MODES, MODE_NAMES
from coldwarm.stats.drawn import memory as drawn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.report.charts.chart import Row, Spec
    from coldwarm.report.charts.workload import Workload


def memory(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw peak memory with empty caches, else with filled ones; ``None``: it is not known."""
    found = {
        "memory_stages": rows(drawn.growth(workload.cases)),
        "memory_medians": rows(drawn.medians(workload.cases)),
        "memory_peaks": rows(drawn.peaks(workload.cases)),
    }
    modes = there(found["memory_medians"], "cache_mode", _ORDER)
    if not modes or not found["memory_stages"]:
        return None
    mode = modes[0]
    return Chart(
        id="memory",
        title=f"Peak memory of a process, {MODE_NAMES[mode]}",
        caption=(
            "The highest resident memory up to the second call. A bar's parts are by how much each "
            "stage raised it, from medians: the interpreter and the devices, the imports, the "
            "inputs, building and wrapping, the first call with its compiler, and calls after it. "
            "Each dot is one process; the upright stroke is their median, the line across it its "
            "95 % interval, or the range of so few that there is none."
        ),
        alt=f"Peak memory, medians with {MODE_NAMES[mode]}: {_medians(found, mode)}.",
        spec=_spec(workload, found, mode, width),
        data=found,
    )


_ORDER = sorted(COLD_MODES, key=lambda mode: mode != "cold_process_cold_cache")


def _medians(found: Mapping[str, Sequence[Row]], mode: str) -> str:
    return "; ".join(
        f"{row['candidate']}: {units.size(row['median_bytes'])}"
        for row in found["memory_medians"]
        if row["cache_mode"] == mode
    )


def _spec(workload: Workload, found: Mapping[str, Sequence[Row]], mode: str, width: int) -> Spec:
    y = candidates(list(workload.looks))
    used = there(found["memory_stages"], "stage", STAGE_COLOURS)
    bars = {
        "data": data("memory_stages"),
        "transform": only(cache_mode=mode),
        "mark": {"type": "bar", "height": {"band": 0.6}, "stroke": "#00000022", "strokeWidth": 0.5},
        "encoding": {
            "y": y,
            "x": n_bytes("from_bytes", "peak resident memory"),
            "x2": {"field": "to_bytes"},
            "color": {
                "field": "stage",
                "type": "nominal",
                "title": None,
                "scale": {"domain": used, "range": [STAGE_COLOURS[stage] for stage in used]},
                "legend": {
                    **over(used, width),
                    "symbolType": "square",
                    "symbolOpacity": 1,
                },
            },
            "tooltip": [
                {"field": "candidate", "title": "candidate"},
                {"field": "stage", "title": "stage"},
                {"field": "to_bytes", "title": "peak after it, bytes", "format": ".4~s"},
            ],
        },
    }
    transform = only(cache_mode=mode)
    return {
        "width": width,
        "height": {"step": ROW},
        "layer": [
            bars,
            *interval("memory_medians", transform, y, "bytes"),
            process_dots("memory_peaks", transform, y, "peak_bytes"),
        ],
    }
