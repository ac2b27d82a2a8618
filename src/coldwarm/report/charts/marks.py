"""Axes and marks that figures of different kinds have in common."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

from coldwarm.report.charts.chart import (
    BYTES_AXIS,
    SECONDS_AXIS,
    Columns,
    colour_scale,
    dash_scale,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import NamedTuple

    from coldwarm.report.charts.chart import Look, Row, Spec

_Known = TypeVar("_Known", bound=str)
"""Kept by what orders values of one type."""
WIDTH = 560
"""Width of a figure's plot, in pixels, without the names beside it."""
ROW = 21
"""Height of a candidate's row."""
_LETTER, _SYMBOL = 5.9, 28
"""Width of a letter of a legend, and of its symbol with the space around it, in pixels."""
CALLS_AXIS = "datum.value < 1e6 ? format(datum.value, ',') : format(datum.value / 1e6, ',') + ' M'"
"""Labels of an axis of calls."""
_STEPS = ((1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9), (1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))
"""Multiples of a power of ten that may have ticks, the most first."""


def line_of_totals(named: str, transform: Sequence[Spec], mark: Spec, encoding: Spec) -> list[Spec]:
    """Return the layers of a line of totals: all of it pale, and over it what was measured."""
    measured: Spec = {"filter": "!datum.extrapolated"}
    return [
        {
            "data": {"name": named},
            "transform": [*transform, *chosen],
            "mark": {"type": "line", "clip": True, "strokeWidth": 2, "opacity": opacity, **mark},
            "encoding": encoding,
        }
        for chosen, opacity in (([], 0.45), ([measured], 1.0))
    ]


def rows(found: Iterable[NamedTuple]) -> Columns:
    """Return records as rows of a data set, every text as figures show it."""
    every = list(found)
    return table(" ".join(every[0]._fields) if every else "", every)


def table(names: str, found: Iterable[Sequence[Any]]) -> Columns:
    """Return rows of a data set under names with blanks between, texts as figures show them."""
    columns = zip(*found, strict=True)
    return Columns(
        {
            name: [shown(value) if isinstance(value, str) else value for value in column]
            for name, column in zip(names.split(), columns, strict=False)
        }
    )


def data(name: str) -> Spec:
    """Return the reference to a data set."""
    return {"name": name}


def candidates(names: Sequence[str]) -> Spec:
    """Return the axis that has a row for each candidate."""
    return {"field": "candidate", "type": "nominal", "sort": list(names), "title": None}


def by_colour(of: Mapping[str, Look], width: int = WIDTH) -> Spec:
    """Return the colour of a candidate, with a legend over a plot of that width."""
    return {
        "field": "candidate",
        "type": "nominal",
        "title": None,
        "scale": colour_scale(of),
        "legend": {**over(list(of), width), "symbolOpacity": 1},
    }


def over(names: Sequence[str], width: int) -> Spec:
    """Return a legend over a plot, in as many columns as its names have room for."""
    columns = next((n for n in range(len(names), 1, -1) if _room(names, n) <= width), 1)
    return {
        "orient": "top",
        "direction": "horizontal",
        "title": None,
        "columns": columns,
        "columnPadding": 8,
    }


def _room(names: Sequence[str], columns: int) -> float:
    widest = [max(map(len, names[place::columns])) for place in range(columns)]
    return sum(_LETTER * length + _SYMBOL for length in widest)


def by_dash(of: Mapping[str, Look]) -> Spec:
    """Return the dash of a candidate, in the same legend as its colour."""
    return {"field": "candidate", "type": "nominal", "title": None, "scale": dash_scale(of)}


def seconds(
    field: str,
    title: str | None,
    *,
    log: bool = False,
    within: Sequence[float] = (),
    most: int = 8,
) -> Spec:
    """Return an axis of seconds; with ``log`` at most so many ticks for what lies ``within``."""
    axis: Spec = {
        "labelExpr": SECONDS_AXIS,
        "labelOverlap": True,
        "labelFlush": False,
        "labelSeparation": 5,
    }
    axis |= {"values": ticks(within, most)} if within else {"tickCount": 6}
    scale: Spec = {"type": "log", "nice": False, "padding": 8} if log else {}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": scale}


def ticks(values: Sequence[float], most: int) -> list[float]:
    """Return round numbers for a log axis that shows these values: few, and some at all."""
    positive = [value for value in values if value > 0]
    if not positive:
        return []
    low, high = min(positive), max(positive)
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    found: list[float] = []
    for steps in _STEPS:
        every = [step * 10.0**power for power in powers for step in steps]
        found = [float(f"{value:.3g}") for value in every if low <= value <= high]
        if len(found) <= most:
            break
    return found[:: -(-len(found) // most)] if found else [float(f"{low:.2g}")]


def n_bytes(field: str, title: str, **more: Any) -> Spec:  # noqa: ANN401
    """Return an axis of bytes."""
    axis = {"labelExpr": BYTES_AXIS, "tickCount": 6, "labelOverlap": True, "labelSeparation": 5}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, **more}


def interval(name: str, transform: Sequence[Spec], y: Spec, unit: str) -> list[Spec]:
    """Return the median as a stroke, and its interval as a line across it."""
    median, low, high = f"median_{unit}", f"low_{unit}", f"high_{unit}"
    form = ".4~s" if unit == "bytes" else ".4~g"
    return [
        {
            "data": data(name),
            "transform": [*transform, {"filter": f"isValid(datum.{low})"}],
            "mark": {"type": "rule", "style": "ink", "strokeWidth": 1.2},
            "encoding": {
                "y": y,
                "x": {"field": low, "type": "quantitative"},
                "x2": {"field": high},
            },
        },
        {
            "data": data(name),
            "transform": list(transform),
            "mark": {"type": "tick", "style": "ink", "thickness": 2, "height": {"band": 0.8}},
            "encoding": {
                "y": y,
                "x": {"field": median, "type": "quantitative"},
                "tooltip": [
                    {"field": "candidate", "title": "candidate"},
                    {"field": median, "title": f"median, {unit}", "format": form},
                    {"field": low, "title": f"from, {unit}", "format": form},
                    {"field": high, "title": f"to, {unit}", "format": form},
                    {"field": "n_processes", "title": "processes"},
                ],
            },
        },
    ]


def process_dots(name: str, transform: Sequence[Spec], y: Spec, field: str) -> Spec:
    """Return a dot for each process, in the lower part of its candidate's row."""
    return {
        "data": data(name),
        "transform": list(transform),
        "mark": {
            "type": "point",
            "style": "ink",
            "filled": True,
            "size": 14,
            "fillOpacity": 0.55,
            "strokeOpacity": 0,
            "yOffset": 7,
        },
        "encoding": {
            "y": y,
            "x": {"field": field, "type": "quantitative"},
            "tooltip": [
                {"field": "candidate", "title": "candidate"},
                {"field": "process", "title": "process"},
                {"field": field, "title": field.rpartition("_")[2], "format": ".4~g"},
            ],
        },
    }


def only(**values: str | bool) -> list[Spec]:
    """Return the filter that keeps rows with these values, which are no foreign text."""
    return [{"filter": {"field": key, "equal": value}} for key, value in values.items()]


def there(found: Iterable[Row], key: str, order: Iterable[_Known]) -> list[_Known]:
    """Return which of the values in this order any row has under a key."""
    have = {row[key] for row in found}
    return [value for value in order if value in have]
