"""Peak memory of fresh processes, by what raised it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.report import units
from coldwarm.report.charts.chart import STAGE_COLOURS, Chart
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
from coldwarm.stats.intervals import median_of
from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.charts.chart import Row, Spec
    from coldwarm.report.charts.workload import Workload


_STAGES = {
    "interpreter": "start",
    "import": "import",
    "device_init": "start",
    "setup": "inputs",
    "build": "build",
    "wrap": "build",
    "first_call": "first call",
    "remaining_calls": "later calls",
    "second_call": "later calls",
}
"""Phases up to the second call, by the stage that they are shown as."""


class _Peak(NamedTuple):
    """The highest resident memory of one process up to its second call."""

    candidate: str
    cache_mode: CacheMode
    process: int
    peak_bytes: int


class _Median(NamedTuple):
    """The median of processes with its interval, or the range of so few."""

    candidate: str
    cache_mode: CacheMode
    median_bytes: float
    low_bytes: float | None
    high_bytes: float | None
    n_processes: int


class _Growth(NamedTuple):
    """A stage, from the peak before it to the peak at its end: medians over processes."""

    candidate: str
    cache_mode: CacheMode
    stage: str
    order: int
    from_bytes: float
    to_bytes: float


def _peaks(cases: Sequence[CaseResult]) -> list[_Peak]:
    """Return the peak of each process that figures are from."""
    return [
        _Peak(case.candidate, mode, number, seen.peak_rss_bytes)
        for case, mode, found in _by_mode(cases)
        for number, seen in enumerate(found, 1)
        if seen.peak_rss_bytes is not None
    ]


def _medians_of_cases(cases: Sequence[CaseResult]) -> list[_Median]:
    """Return the peak of each case."""
    return [
        _Median(case.candidate, cold.cache_mode, peak.median, peak.low, peak.high, peak.n_processes)
        for case in cases
        for cold in case.cold
        if (peak := cold.peak_rss_bytes) is not None
    ]


def _growth(cases: Sequence[CaseResult]) -> list[_Growth]:
    """Return by how much each stage raised the peak, end to end."""
    found = []
    for case, mode, seen in _by_mode(cases):
        before = 0.0
        for order, (phase, stage) in enumerate(_STAGES.items()):
            ends = [peak for one in seen if (peak := _peak_after(one, phase)) is not None]
            if not ends:
                continue
            after = max(before, median_of(ends))
            found.append(_Growth(case.candidate, mode, stage, order, before, after))
            before = after
    return found


def _by_mode(
    cases: Sequence[CaseResult],
) -> Iterator[tuple[CaseResult, CacheMode, list[Observation]]]:
    for case in cases:
        for cold in case.cold:
            yield case, cold.cache_mode, counted(case.observations, cold.cache_mode)


def _peak_after(seen: Observation, name: str) -> int | None:
    return next((phase.peak_rss_bytes for phase in seen.phases if phase.name == name), None)


def memory(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw peak memory with empty caches, else with filled ones; ``None``: it is not known."""
    found = {
        "memory_stages": rows(_growth(workload.cases)),
        "memory_medians": rows(_medians_of_cases(workload.cases)),
        "memory_peaks": rows(_peaks(workload.cases)),
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
