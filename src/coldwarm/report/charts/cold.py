"""Where the time of a start goes: its parts end to end, with every process over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.report import units
from coldwarm.report.charts.chart import PART_COLOURS, Chart, shown
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
from coldwarm.report.words import COLD_MODES, MODE_NAMES
from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.charts.chart import Row, Spec
    from coldwarm.report.charts.workload import Workload


_BEFORE = ("start", "import", "build", "wrap")
_OF_CALL = ("trace", "lower", "compile", "cache_read", "rest")


class _Part(NamedTuple):
    """A part of a start, from where the parts before it end; ``seconds`` is its median.

    Medians do not add up: the last end may lie a little beside the median of the whole.
    """

    candidate: str
    cache_mode: CacheMode
    part: str
    order: int
    start_s: float
    end_s: float
    seconds: float


class _Whole(NamedTuple):
    """The median of a whole with its interval, or the range of so few that there is none."""

    candidate: str
    cache_mode: CacheMode
    median_s: float
    low_s: float | None
    high_s: float | None
    n_processes: int


class _Start(NamedTuple):
    """One process."""

    candidate: str
    cache_mode: CacheMode
    process: int
    seconds: float


def _parts(cases: Sequence[CaseResult]) -> list[_Part]:
    """Return the parts from the start of a process to its result, of a scenario to its end."""
    return [part for case in cases for part in _stacked(case, (*_BEFORE, *_call(case)))]


def _call_parts(cases: Sequence[CaseResult]) -> list[_Part]:
    """Return the parts of the first call alone, of a scenario those of its loop."""
    return [part for case in cases for part in _stacked(case, _call(case))]


def _call(case: CaseResult) -> tuple[str, ...]:
    return tuple(f"{'loop' if case.scenario else 'first_call'}.{part}" for part in _OF_CALL)


def _stacked(case: CaseResult, keys: Sequence[str]) -> Iterator[_Part]:
    for cold in case.cold:
        end_s = 0.0
        for order, key in enumerate(keys):
            if key not in cold.seconds:
                continue
            start_s, seconds = end_s, cold.seconds[key].median
            end_s = start_s + seconds
            name = key.rpartition(".")[2]
            yield _Part(case.candidate, cold.cache_mode, name, order, start_s, end_s, seconds)


def _wholes_of_starts(cases: Sequence[CaseResult]) -> list[_Whole]:
    """Return the time from the start of a process to its result, of a scenario to its end."""
    return list(_wholes(cases, "ttfr_process", "total"))


def _wholes_of_calls(cases: Sequence[CaseResult]) -> list[_Whole]:
    """Return the time of the first call, of a scenario of its loop."""
    return list(_wholes(cases, "first_call", "loop"))


def _wholes(cases: Sequence[CaseResult], usual: str, of_scenario: str) -> Iterator[_Whole]:
    for case in cases:
        for cold in case.cold:
            found = cold.seconds.get(of_scenario if case.scenario else usual)
            if found is not None:
                yield _Whole(
                    case.candidate,
                    cold.cache_mode,
                    found.median,
                    found.low,
                    found.high,
                    found.n_processes,
                )


def _starts(cases: Sequence[CaseResult]) -> list[_Start]:
    """Return what each process took to its result, of a scenario to its end."""
    return list(_each(cases, call=False))


def _calls(cases: Sequence[CaseResult]) -> list[_Start]:
    """Return what the first call of each process took, of a scenario its loop."""
    return list(_each(cases, call=True))


def _each(cases: Sequence[CaseResult], *, call: bool) -> Iterator[_Start]:
    for case in cases:
        for cold in case.cold:
            mode = cold.cache_mode
            for number, seen in enumerate(counted(case.observations, mode), 1):
                seconds = _call_s(seen) if call else _whole_s(seen)
                if seconds is not None:
                    yield _Start(case.candidate, mode, number, seconds)


def _whole_s(seen: Observation) -> float | None:
    return seen.ttfr_process_s if seen.loop is None else seen.loop.total_s


def _call_s(seen: Observation) -> float | None:
    return seen.phase_s("first_call") if seen.loop is None else seen.loop.loop_s


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
        "cold_parts": rows(_parts(workload.cases)),
        "cold_wholes": rows(_wholes_of_starts(workload.cases)),
        "cold_starts": rows(_starts(workload.cases)),
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
        "call_parts": rows(_call_parts(workload.cases)),
        "call_wholes": rows(_wholes_of_calls(workload.cases)),
        "call_calls": rows(_calls(workload.cases)),
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
    used = there(found[parts], "part", (*_BEFORE, *_OF_CALL))
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
