"""The page of a history: each figure over its runs, with its changes; cold beside warm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coldwarm.contracts.codec import cleaned
from coldwarm.report import units
from coldwarm.report.charts.chart import COLOURS
from coldwarm.report.comparison_text import figure
from coldwarm.report.page.template import filled
from coldwarm.report.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.history import HistoryChange, HistoryCheck
    from coldwarm.history.store import History, Series

    Floats = NDArray[np.float64]

_WIDTH, _HEIGHT = 1000, 100
"""Of a chart, in units of its own."""
_COLUMNS = 400
"""Places along a chart: where there are more runs, several share one."""
_MARGIN = 0.08
_LEAST_SPAN = 0.02
"""Least extent of the logarithms that a chart shows: noise is not to fill it."""
_DIGITS = 8
"""Of a commit."""


class _Columns(NamedTuple):
    """A series as it is drawn: for each place the middle, the least and the largest logarithm."""

    middle: Floats
    low: Floats
    high: Floats


def page_of_history(found: History, checked: HistoryCheck) -> str:
    """Return the page: cases with the newest changes first."""
    changes: dict[tuple[str, str, str, str | None], list[HistoryChange]] = {}
    for one in checked.changes:
        key = one.machine, one.case, one.metric, one.baseline
        changes.setdefault(key, []).append(one)
    groups: dict[tuple[str, str], list[Series]] = {}
    for series in found.series:
        groups.setdefault((series.machine, series.case), []).append(series)
    machines = found.machines()
    cases = [
        {
            "title": case,
            "machine": machines[machine],
            "newest": max(
                (
                    one.after.started_at
                    for key, each in changes.items()
                    if key[:2] == (machine, case)
                    for one in each
                ),
                default="",
            ),
            "rows": [
                _row(found, one, changes.get((one.machine, one.case, one.metric, one.baseline), []))
                for one in series
            ],
        }
        for (machine, case), series in groups.items()
    ]
    cases.sort(key=lambda one: str(one["title"]))
    cases.sort(key=lambda one: str(one["newest"]), reverse=True)
    n_changes = counted(len(checked.changes), "change")
    named: dict[str, Any] = {
        "title": "coldwarm history",
        "subtitle": checked.folder,
        "lead": f"{n_changes} in {counted(checked.n_runs, 'run')},"
        f" {counted(checked.n_series, 'figure')}.",
        "cases": cases,
        "line": COLOURS[0],
        "mark": COLOURS[1],
        "width": _WIDTH,
        "height": _HEIGHT,
        "dates": [run.started_at[:10] for run in found.runs[:: max(1, len(found.runs) - 1)]][:2],
    }
    return filled("history.html.j2", (), **cleaned(named))


def _row(found: History, series: Series, changes: Sequence[HistoryChange]) -> dict[str, Any]:
    """Return what the page shows of a figure."""
    value, ratio, *_ = series.figures.T
    held = np.where(np.isnan(ratio), value, ratio)
    kept = held > 0
    logs, runs = np.log(held[kept]), series.runs[kept]
    if not len(logs):
        return {"name": figure(series.metric), "of": "", "now": units.MISSING, "drawn": None}
    drawn = _columns(logs)
    low, high = _extent(drawn)
    is_ratio = bool(np.any(~np.isnan(ratio)))
    places = {found.runs[run].run_id: at for at, run in enumerate(runs)}
    own = [one for one in changes if one.after.run_id in places]  # others: of another setup
    return {
        "name": figure(series.metric),
        "of": f"ratio to {series.baseline}" if is_ratio else "",
        "now": _told(series, math.exp(logs[-1]), is_ratio=is_ratio),
        "most": _told(series, math.exp(high), is_ratio=is_ratio),
        "least": _told(series, math.exp(low), is_ratio=is_ratio),
        "drawn": {
            "line": _points(drawn.middle, low, high),
            "band": " ".join(
                (_points(drawn.high, low, high), *reversed(_points(drawn.low, low, high).split()))
            ),
        },
        "marks": [
            {
                "x": round(_WIDTH * (places[one.after.run_id] / max(1, len(logs) - 1)), 1),
                "words": _change(one),
            }
            for one in own
        ],
        "changes": [_change(one) for one in own],
    }


def _change(one: HistoryChange) -> str:
    size, low, high = (f"{100 * (each - 1):+.1f} %" for each in (one.ratio, one.low, one.high))
    since = f"since {one.after.started_at[:10]}"
    commit = f", {one.after.commit[:_DIGITS]}" if one.after.commit else ""
    also = ", ".join(f"{each.name} {each.a} → {each.b}" for each in one.software)
    return f"{size} ({low} to {high}) {since}{commit}" + (f"; also changed: {also}" if also else "")


def _told(series: Series, value: float, *, is_ratio: bool) -> str:
    if is_ratio:
        return f"{value:.3g}"
    return (units.size if series.kind == "memory" else units.duration)(value)


def _columns(logs: Floats) -> _Columns:
    """Return a series at as many places as a chart has."""
    parts = np.array_split(logs, min(_COLUMNS, len(logs)))
    reduced = (np.array([reduce(one) for one in parts]) for reduce in (np.median, np.min, np.max))
    return _Columns(*reduced)


def _extent(drawn: _Columns) -> tuple[float, float]:
    """Return the least and the largest logarithm of a chart, with room around them."""
    low, high = float(drawn.low.min()), float(drawn.high.max())
    room = max(_MARGIN * (high - low), (_LEAST_SPAN - (high - low)) / 2)
    return low - room, high + room


def _points(logs: Floats, low: float, high: float) -> str:
    return " ".join(_placed(logs, low, high))


def _placed(logs: Floats, low: float, high: float) -> Iterator[str]:
    step = _WIDTH / max(1, len(logs) - 1)
    for at, one in enumerate(logs):
        yield f"{at * step:.1f},{_HEIGHT * (high - one) / (high - low):.1f}"
