"""Figures of patterns and claims: dots with their intervals on a log axis, drawn at each build."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from _generate.rst import indent
from coldwarm.report.charts import drawing
from coldwarm.report.charts.chart import BYTES_AXIS, COLOURS, GROUNDS, SECONDS_AXIS, Chart
from coldwarm.report.charts.marks import ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coldwarm.report.charts.chart import Spec, Theme

Axis = Literal["ratio", "seconds", "bytes", "number"]
Of = Literal["main", "other", "source", "title"]
Kind = Literal["title", "name", "said"]
WIDTH = 380
"""Of the plot, in pixels: a telephone shows the whole width."""
_TITLE, _ROW, _LINE = 24, 38, 24
"""Heights of a title and of a row, and how far below its words the line of a row lies."""
_NARROWEST = 1.5
"""The least ratio of the ends of an axis: one exact figure has a scale, too."""
_WORDS: dict[Kind, tuple[str, str, str, str]] = {
    "title": ("datum.of === 'title'", "name", "left", "said"),
    "name": ("datum.of !== 'title'", "name", "left", "said_faint"),
    "said": ("datum.said", "said", "right", "said"),
}
"""Words by what they are: which rows have them, the field, the side, the style."""
_LABELS: dict[Axis, str] = {
    "ratio": "format(datum.value, ',.4~g') + '×'",
    "seconds": SECONDS_AXIS,
    "bytes": BYTES_AXIS,
    "number": "format(datum.value, ',.4~g')",
}
_COLOURS: dict[Of, str] = {"main": COLOURS[0], "other": COLOURS[1], "source": "#8c959f"}


class Row(NamedTuple):
    """One line of a figure, or a title over the lines that follow."""

    name: str
    said: str = ""
    """The figure in words, at the end of the line."""
    value: float | None = None
    """``None``: a range alone, as a source states one."""
    low: float | None = None
    high: float | None = None
    of: Of = "title"


def drawn(figure_id: str, title: str, rows: Sequence[Row], axis: Axis) -> str:
    """Return a figure as it stands on a page, once for each theme.

    Every value is above zero. Of ratios the line of no difference is shown, too.
    """
    return themed(lambda theme: _svg(figure_id, title, tuple(rows), axis, theme))


def themed(draw: Callable[[Theme], str]) -> str:
    """Return a drawing as it stands on a page, once for each theme."""
    themes: tuple[Theme, ...] = ("light", "dark")
    both = "\n".join(f'<div class="measured only-{theme}">{draw(theme)}</div>' for theme in themes)
    # What is included may have no lines as long as those of a drawing.
    html = indent(both.replace("><", ">\n<"))
    return f".. raw:: html\n\n{html}\n\n"


@cache
def _svg(figure_id: str, title: str, rows: tuple[Row, ...], axis: Axis, theme: Theme) -> str:
    said = "; ".join(f"{row.name}: {row.said}" if row.said else row.name for row in rows)
    chart = Chart(
        id=figure_id,
        title=title,
        caption="",
        alt=f"{title}. {said}.",
        spec=_spec(rows, axis, GROUNDS[theme].background),
        data={"rows": list(_placed(rows))},
    )
    return drawing.svg(chart, theme).decode()


def _placed(rows: Sequence[Row]) -> Iterator[dict[str, object]]:
    """Yield rows with the places of their words and of their lines, in pixels from the top."""
    top = 0
    for row in rows:
        place = {"words": top + 10, "line": top + _LINE, "colour": _COLOURS.get(row.of)}
        yield {**row._asdict(), **place}
        top += _TITLE if row.of == "title" else _ROW


def _spec(rows: Sequence[Row], axis: Axis, ground: str) -> Spec:
    height = sum(_TITLE if row.of == "title" else _ROW for row in rows)
    ends = [end for row in rows for end in (row.low, row.high) if end is not None]
    domain = _domain([*ends, 1.0] if axis == "ratio" else ends)
    ticked = {"labelExpr": _LABELS[axis], "values": ticks(domain, 6), "labelOverlap": True}
    x = {
        "field": "low",
        "type": "quantitative",
        "title": None,
        "scale": {"type": "log", "nice": False, "domain": domain},
        "axis": ticked,
    }
    colour = {"field": "colour", "type": "nominal", "scale": None}
    line = {"y": _y("line", height), "x": x, "x2": {"field": "high"}, "color": colour}
    dot = {**line, "x": {**x, "field": "value"}, "x2": {"field": "value"}}
    layers: list[Spec] = [
        _layer("datum.of === 'source'", {"type": "rule", "strokeWidth": 8, "opacity": 0.5}, line),
        _layer("datum.of !== 'source'", {"type": "rule", "strokeWidth": 2}, line),
        _layer("isValid(datum.value)", {"type": "point", "filled": True, "size": 70}, dot),
        *(layer for kind in _WORDS for layer in _words(kind, height, ground)),
    ]
    if axis == "ratio":
        unity: Spec = {"mark": {"type": "rule", "style": "faint", "strokeDash": [3, 3]}}
        layers.insert(0, {**unity, "data": {"values": [{}]}, "encoding": {"x": {"datum": 1}}})
    size: Spec = {"width": WIDTH, "height": height, "background": "transparent"}
    return {**size, "data": {"name": "rows"}, "layer": layers}


def _y(field: str, height: int) -> Spec:
    """Return the axis of places in pixels from the top."""
    scale = {"domain": [0, height], "reverse": True, "nice": False, "zero": False}
    return {"field": field, "type": "quantitative", "axis": None, "scale": scale}


def _layer(keep: str, mark: Spec, encoding: Spec) -> Spec:
    return {"transform": [{"filter": keep}], "mark": {"opacity": 1, **mark}, "encoding": encoding}


def _words(kind: Kind, height: int, ground: str) -> list[Spec]:
    """Return the words of rows at an end of the plot, on ground that hides lines behind them."""
    keep, field, align, style = _WORDS[kind]
    places = {
        "y": _y("words", height),
        "x": {"value": 0 if align == "left" else WIDTH},
        "text": {"field": field},
    }
    mark: Spec = {"type": "text", "align": align, "baseline": "middle", "fontSize": 11}
    behind = {**mark, "stroke": ground, "strokeWidth": 4, "fill": ground}
    return [_layer(keep, behind, places), _layer(keep, {**mark, "style": style}, places)]


def _domain(ends: Sequence[float]) -> list[float]:
    """Return the ends of the axis, with room around what it shows."""
    low, high = min(ends), max(ends)
    room = max((high / low) ** 0.04, 1.04)
    low, high = low / room, high * room
    if high / low < _NARROWEST:
        wider = (_NARROWEST * low / high) ** 0.5
        low, high = low / wider, high * wider
    return [low, high]
