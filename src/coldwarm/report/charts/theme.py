"""Fonts, lines and colours that all figures have in common, on light and on dark ground."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Theme = Literal["light", "dark"]
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first one is in vl-convert, so that a figure is the same on every machine."""


@dataclass(frozen=True)
class _Ground:
    """The colours of a theme that are of no candidate."""

    background: str
    text: str
    faint: str
    """Of what is said beside."""
    grid: str
    mark: str
    """Of points and ticks that belong to no candidate."""


GROUNDS: Mapping[Theme, _Ground] = {
    "light": _Ground("#ffffff", "#1f2328", "#59636e", "#e4e7eb", "#24292f"),
    "dark": _Ground("#14181d", "#e6edf3", "#9aa4af", "#2c333b", "#f0f3f6"),
}

SECONDS_AXIS = (
    "datum.value === 0 ? '0' : abs(datum.value) >= 1 ? format(datum.value, ',~r') + ' s'"
    " : abs(datum.value) >= 1e-3 ? format(datum.value * 1e3, '.4~g') + ' ms'"
    " : abs(datum.value) >= 1e-6 ? format(datum.value * 1e6, '.4~g') + ' µs'"
    " : format(datum.value * 1e9, '.4~g') + ' ns'"
)
"""Labels of an axis in seconds."""
BYTES_AXIS = (
    "datum.value === 0 ? '0' : datum.value >= 1e9 ? format(datum.value / 1e9, '.4~g') + ' GB'"
    " : datum.value >= 1e6 ? format(datum.value / 1e6, '.4~g') + ' MB'"
    " : format(datum.value / 1e3, '.4~g') + ' kB'"
)
"""Labels of an axis in bytes."""


def config(theme: Theme) -> dict[str, Any]:
    """Return what Vega-Lite is told of a theme.

    Marks of the style ``ink`` have the colour of the theme's marks, ``faint`` that of what is
    said beside.
    """
    ground = GROUNDS[theme]
    words = {"labelColor": ground.text, "titleColor": ground.text}
    return {
        "background": ground.background,
        # A figure has one alternative text, and its data as a table; not a name for each mark.
        "aria": False,
        "font": _FONT,
        "padding": 8,
        "view": {"stroke": None},
        "axis": {
            **words,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "titleColor": ground.faint,
            "gridColor": ground.grid,
            "domainColor": ground.faint,
            "tickColor": ground.faint,
            "labelLimit": 190,
        },
        "axisY": {"grid": False, "domain": False, "ticks": False, "labelPadding": 6},
        "axisX": {"grid": True, "domain": False, "ticks": False, "labelPadding": 4},
        "header": {**words, "labelFontSize": 12, "labelFontWeight": "bold", "labelLimit": 400},
        "title": {
            "color": ground.text,
            "subtitleColor": ground.faint,
            "anchor": "start",
            "fontSize": 12,
            "fontWeight": "bold",
            "offset": 6,
        },
        "legend": {
            **words,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "labelLimit": 260,
            "symbolBaseFillColor": ground.faint,
            "symbolBaseStrokeColor": ground.faint,
        },
        "text": {"color": ground.text, "fontSize": 11},
        "style": {
            "ink": {"color": ground.mark, "stroke": ground.mark, "fill": ground.mark},
            "faint": {"color": ground.faint, "stroke": ground.faint},
            "said": {"fill": ground.text},
            "said_faint": {"fill": ground.faint},
        },
    }
