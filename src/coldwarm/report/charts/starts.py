"""What a start takes, in time and in memory: its parts end to end, with every process over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.charts.chart import PART_COLOURS, STAGE_COLOURS, Chart, shown
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
    seconds,
    table,
    there,
)
from coldwarm.report.words import COLD_MODES, MODE_NAMES
from coldwarm.stats.intervals import median_of
from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import Summary
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult, ColdSummary
    from coldwarm.report.charts.chart import Row, Spec
    from coldwarm.report.charts.workload import Workload

_BEFORE = ("start", "import", "build", "wrap")
_OF_CALL = ("trace", "lower", "compile", "cache_read", "rest")
_PART_NAMES = {"cache_read": "read cache"}
"""Names of parts where they are not their own."""
_POINTS = (
    "Each dot is one process; the upright stroke is their median, the line across it the median's "
    "95 % interval, or the range of so few that there is none."
)
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


def _medians(
    workload: Workload, unit: str, of: Callable[[CaseResult, ColdSummary], Summary | None]
) -> Sequence[Row]:
    """Return medians with their intervals, or the ranges of so few that there is none."""
    names = f"candidate cache_mode median_{unit} low_{unit} high_{unit} n_processes"
    return table(
        names,
        (
            (
                case.candidate,
                cold.cache_mode,
                found.median,
                found.low,
                found.high,
                found.n_processes,
            )
            for case in workload.cases
            for cold in case.cold
            if (found := of(case, cold)) is not None
        ),
    )


def _each(
    workload: Workload, field: str, of: Callable[[Observation], float | None]
) -> Sequence[Row]:
    """Return what each process took."""
    return table(
        f"candidate cache_mode process {field}",
        (
            (case.candidate, mode, number, value)
            for case, mode, found in _by_mode(workload.cases)
            for number, seen in enumerate(found, 1)
            if (value := of(seen)) is not None
        ),
    )


def _by_mode(
    cases: Sequence[CaseResult],
) -> Iterator[tuple[CaseResult, CacheMode, list[Observation]]]:
    for case in cases:
        for cold in case.cold:
            yield case, cold.cache_mode, counted(case.observations, cold.cache_mode)


def starts(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw the time from the start of a process to its result; ``None``: no start was measured."""
    loops = any(case.scenario for case in workload.cases)
    until = "to the end of its loop" if loops else "to its first result"
    found = {
        "cold_parts": _parts(workload, _BEFORE),
        "cold_wholes": _wholes(workload, "ttfr_process", "total"),
        "cold_starts": _each(
            workload,
            "seconds",
            lambda seen: seen.ttfr_process_s if seen.loop is None else seen.loop.total_s,
        ),
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
        alt=f"From the start of a process {until}, medians: {_told(found['cold_wholes'])}.",
        spec=_panels(workload, found, width, f"seconds {until.replace('its', 'the')}"),
        data=found,
    )


def first_calls(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw the parts of the first call alone; ``None``: no start was measured."""
    loops = any(case.scenario for case in workload.cases)
    what = "whole loop" if loops else "first call"
    found = {
        "call_parts": _parts(workload, ()),
        "call_wholes": _wholes(workload, "first_call", "loop"),
        "call_calls": _each(
            workload,
            "seconds",
            lambda seen: seen.phase_s("first_call") if seen.loop is None else seen.loop.loop_s,
        ),
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
        alt=f"Inside the {what}, medians: {_told(found['call_wholes'])}.",
        spec=_panels(workload, found, width, f"seconds of the {what}"),
        data=found,
    )


def _parts(workload: Workload, before: Sequence[str]) -> Sequence[Row]:
    """Return the parts end to end: those before the first call, and its own, or its loop's.

    They are medians, which do not add up: the last end may lie a little beside the median of the
    whole.
    """

    def stacked(case: CaseResult, cold: ColdSummary) -> Iterator[tuple[object, ...]]:
        end_s = 0.0
        call = "loop" if case.scenario else "first_call"
        for order, key in enumerate((*before, *(f"{call}.{part}" for part in _OF_CALL))):
            if key in cold.seconds:
                start_s, part_s = end_s, cold.seconds[key].median
                end_s = start_s + part_s
                name = key.rpartition(".")[2]
                yield case.candidate, cold.cache_mode, name, order, start_s, end_s, part_s

    return table(
        "candidate cache_mode part order start_s end_s seconds",
        (row for case in workload.cases for cold in case.cold for row in stacked(case, cold)),
    )


def _wholes(workload: Workload, usual: str, of_scenario: str) -> Sequence[Row]:
    return _medians(
        workload,
        "s",
        lambda case, cold: cold.seconds.get(of_scenario if case.scenario else usual),
    )


def _made(workload: Workload) -> str:
    made = [shown(case.candidate) for case in workload.cases if case.made]
    if not made:
        return ""
    return f" What {', '.join(made)} compiled ahead of time is in no bar, only reading it."


def _told(wholes: Sequence[Row]) -> str:
    return "; ".join(
        f"{row['candidate']}, {MODE_NAMES[row['cache_mode']]}: {units.duration(row['median_s'])}"
        for row in wholes
    )


def _panels(workload: Workload, found: Mapping[str, Sequence[Row]], width: int, title: str) -> Spec:
    """Return a panel for each state of the caches, one below the other on one axis."""
    parts, wholes, each = found
    modes = there(found[wholes], "cache_mode", COLD_MODES)
    used = there(found[parts], "part", (*_BEFORE, *_OF_CALL))
    names = [_PART_NAMES.get(part, part) for part in used]
    renamed = [f"datum.label === '{p}' ? '{n}'" for p, n in zip(used, names, strict=True) if p != n]
    colour = _by_part("part", {part: PART_COLOURS[part] for part in used}, names, width)
    colour["legend"]["labelExpr"] = " : ".join([*renamed, "datum.label"])
    y = candidates(list(workload.looks))
    return {
        "vconcat": [
            {
                "title": MODE_NAMES[mode],
                "width": width,
                "height": {"step": ROW},
                "layer": [
                    _bars(
                        (parts, mode, 0.66),
                        {
                            "y": y,
                            "x": seconds("start_s", title if mode == modes[-1] else None),
                            "x2": {"field": "end_s"},
                            "color": colour,
                        },
                        {"field": "seconds", "title": "median, s", "format": ".3~g"},
                    ),
                    *interval(wholes, only(cache_mode=mode), y, "s"),
                    process_dots(each, only(cache_mode=mode), y, "seconds"),
                ],
            }
            for mode in modes
        ],
        "spacing": 14,
        "resolve": {"scale": {"x": "shared", "color": "shared"}},
    }


def _by_part(field: str, colours: Mapping[str, str], names: Sequence[str], width: int) -> Spec:
    """Return the colours of the parts of a bar, with a legend of their names."""
    return {
        "field": field,
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(colours), "range": list(colours.values())},
        "legend": {**over(names, width), "symbolType": "square", "symbolOpacity": 1},
    }


def _bars(of: tuple[str, str, float], encoding: Spec, measure: Spec) -> Spec:
    """Return bars of parts; ``of``: the data, the cache mode, their height in a row."""
    name, mode, height = of
    part = encoding["color"]["field"]
    told = [{"field": field, "title": field} for field in ("candidate", part)]
    return {
        "data": data(name),
        "transform": only(cache_mode=mode),
        "mark": {
            "type": "bar",
            "height": {"band": height},
            "stroke": "#00000022",
            "strokeWidth": 0.5,
        },
        "encoding": {**encoding, "tooltip": [*told, measure]},
    }


def memory(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw peak memory with empty caches, else with filled ones; ``None``: it is not known."""
    found = {
        "memory_stages": _growth(workload),
        "memory_medians": _medians(workload, "bytes", lambda _, cold: cold.peak_rss_bytes),
        "memory_peaks": _each(workload, "peak_bytes", lambda seen: seen.peak_rss_bytes),
    }
    modes = there(found["memory_medians"], "cache_mode", _ORDER)
    if not modes or not found["memory_stages"]:
        return None
    mode = modes[0]
    used = there(found["memory_stages"], "stage", STAGE_COLOURS)
    y, transform = candidates(list(workload.looks)), only(cache_mode=mode)
    medians = "; ".join(
        f"{row['candidate']}: {units.size(row['median_bytes'])}"
        for row in found["memory_medians"]
        if row["cache_mode"] == mode
    )
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
        alt=f"Peak memory, medians with {MODE_NAMES[mode]}: {medians}.",
        spec={
            "width": width,
            "height": {"step": ROW},
            "layer": [
                _bars(
                    ("memory_stages", mode, 0.6),
                    {
                        "y": y,
                        "x": n_bytes("from_bytes", "peak resident memory"),
                        "x2": {"field": "to_bytes"},
                        "color": _by_part(
                            "stage", {stage: STAGE_COLOURS[stage] for stage in used}, used, width
                        ),
                    },
                    {"field": "to_bytes", "title": "peak after it, bytes", "format": ".4~s"},
                ),
                *interval("memory_medians", transform, y, "bytes"),
                process_dots("memory_peaks", transform, y, "peak_bytes"),
            ],
        },
        data=found,
    )


_ORDER = sorted(COLD_MODES, key=lambda mode: mode != "cold_process_cold_cache")


def _growth(workload: Workload) -> Sequence[Row]:
    """Return by how much each stage raised the peak, end to end: medians over processes."""
    found = []
    for case, mode, seen in _by_mode(workload.cases):
        before = 0.0
        for order, (phase, stage) in enumerate(_STAGES.items()):
            ends = [peak for one in seen if (peak := _peak_after(one, phase)) is not None]
            if ends:
                after = max(before, median_of(ends))
                found.append((case.candidate, mode, stage, order, before, after))
                before = after
    return table("candidate cache_mode stage order from_bytes to_bytes", found)


def _peak_after(seen: Observation, name: str) -> int | None:
    return next((phase.peak_rss_bytes for phase in seen.phases if phase.name == name), None)
