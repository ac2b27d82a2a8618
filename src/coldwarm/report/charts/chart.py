"""Specification of a figure: one that names its data, its words, its colours and its theme."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, overload

from coldwarm.errors import printable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Row = Mapping[str, Any]
    Spec = dict[str, Any]


class Columns(Sequence["Row"]):
    """Rows that are made when they are asked for."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """``columns``: of one length, by the name of the field."""
        self.columns = columns

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns.values()), ()))

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        """Return a row, or several."""
        if isinstance(place, slice):
            return Columns({name: column[place] for name, column in self.columns.items()})
        return {name: column[place] for name, column in self.columns.items()}

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""
        names = list(self.columns)
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(names, values, strict=True))

    def __eq__(self, other: object) -> bool:
        """Say whether the rows are the same."""
        return isinstance(other, Columns) and self.columns == other.columns

    __hash__ = None  # type: ignore[assignment] # its columns are lists


_LONGEST_NAME = 48
_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@lru_cache(maxsize=4096)
def shown(name: str) -> str:
    """Return foreign text as figures show it: one line, seen as it is, not too long.

    What is too long has a few digits of its hash, so that two names never become one.
    """
    plain = printable(name)
    if len(plain) <= _LONGEST_NAME:
        return plain
    return f"{shorten(plain, _LONGEST_NAME - 7)}·{hashlib.sha256(name.encode()).hexdigest()[:5]}"


def file_name(name: str) -> str:
    """Return foreign text as part of a file's name: letters, digits, dots, dashes, underscores."""
    return _NO_FILE_NAME.sub("_", name).strip("._-")[:80] or "figure"


Theme = Literal["light", "dark"]
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first one is in vl-convert, so that a figure is the same on every machine."""


@dataclass(frozen=True)
class _Ground:
    """The colours of a theme that are of no candidate."""

    background: str
    text: str
    faint: str
    """Colour of what is said beside."""
    grid: str
    mark: str
    """Colour of points and ticks that belong to no candidate."""


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


COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#b84fd8",
    "#a04848",
)
_DASHES = ([1, 0], [6, 3], [2, 2])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_USUAL = {
    "numpy": 0,
    "jax_jit": 1,
    "torch_compile": 2,
    "numba": 3,
    "jax_eager": 4,
    "torch_eager": 5,
    "jax_aot": 6,
    "jax_export": 7,
    "torch_aot": 10,
    "torch_megacache": 18,
}
"""Colours that the same backends have in every report."""
PART_COLOURS = {
    "start": "#dddddd",
    "import": "#77aadd",
    "build": "#99ddff",
    "wrap": "#aaaa00",
    "trace": "#eedd88",
    "lower": "#bbcc33",
    "compile": "#ee8866",
    "cache_read": "#44bb99",
    "rest": "#ffaabb",
}
STAGE_COLOURS = {
    "start": PART_COLOURS["start"],
    "import": PART_COLOURS["import"],
    "inputs": "#eedd88",
    "build": PART_COLOURS["build"],
    "first call": PART_COLOURS["compile"],
    "later calls": PART_COLOURS["rest"],
}
"""Colours of what raises the memory of a process."""
UNKNOWN = "#b8b8b8"
"""Colour of what the data cannot tell."""


@dataclass(frozen=True)
class Look:
    """A colour, and what tells its second and third owner apart."""

    colour: str
    dash: tuple[int, int]
    shape: str


def looks(candidates: Iterable[str]) -> dict[str, Look]:
    """Return how each candidate looks: backends as always, others in their order."""
    names = list(dict.fromkeys(candidates))
    places: dict[str, int] = {}
    for name in names:
        place = _USUAL.get(_backend(name))
        if place is not None and place not in places.values():
            places[name] = place
    free = iter(place for place in range(len(names) + len(_USUAL)) if place not in places.values())
    for name in names:
        if name not in places:
            places[name] = next(free)
    return {name: _look(places[name]) for name in names}


def _backend(candidate: str) -> str:
    return candidate.removesuffix("_cpu").removesuffix("_gpu")


def _look(place: int) -> Look:
    again, colour = divmod(place, len(COLOURS))
    first, second = _DASHES[again % len(_DASHES)]
    return Look(COLOURS[colour], (first, second), _SHAPES[again % len(_SHAPES)])


def colour_scale(of: Mapping[str, Look]) -> dict[str, Any]:
    """Return the scale that gives candidates their colours."""
    return {"domain": list(of), "range": [look.colour for look in of.values()]}


def dash_scale(of: Mapping[str, Look]) -> dict[str, Any]:
    """Return the scale that gives candidates their dashes."""
    return {"domain": list(of), "range": [list(look.dash) for look in of.values()]}


def _shape_scale(of: Mapping[str, Look]) -> dict[str, Any]:
    """Return the scale that gives candidates their shapes."""
    return {"domain": list(of), "range": [look.shape for look in of.values()]}


_BRIGHT = 0.25
"""Luminance from which dark text is read better than white."""


def ink_on(colour: str) -> str:
    """Return the colour of text on a colour, both as ``#rrggbb``."""
    return "#1f2328" if _luminance(colour) > _BRIGHT else "#ffffff"


def _luminance(colour: str) -> float:
    """Return the relative luminance of ``#rrggbb`` (0..1, WCAG)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)  # noqa: PLR2004
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
VERSION = "6.4"
"""Version of Vega-Lite for which specifications are written."""


@dataclass(frozen=True)
class Chart:
    """A figure; every text of it is plain, seen as it is, and escaped by who writes it anywhere.

    ``spec`` names its data (``{"data": {"name": "warm_samples"}}``) and holds none of it, nor any
    colour of a theme. ``data`` has the rows under these names. Figures of one workload that name
    the same data have the same rows, so a page needs them once.
    """

    id: str
    """A name for files and anchors: the kind of figure, ``cold``, ``break_even``, …"""
    title: str
    caption: str
    """Caption: what there is to see, and how to read it."""
    alt: str
    """The same in a sentence with its main numbers, for who does not see the figure."""
    spec: Spec
    data: Mapping[str, Sequence[Row]]

    def whole(self, theme: Theme = "light") -> Spec:
        """Return the specification with its data and the theme: all that is needed to draw it."""
        datasets = {name: [dict(row) for row in rows] for name, rows in self.data.items()}
        return {"$schema": _SCHEMA, **self.spec, "config": config(theme), "datasets": datasets}


def standing_alone(chart: Chart, of: str, where: str, left_out: str = "") -> Chart:
    """Return a figure with its title over it, and of what it is and where it is from below that.

    ``left_out``: which candidates are not in it, and why.
    """
    said = " · ".join(filter(None, (of, where)))
    missing = f"not judged: {left_out}" if left_out else ""
    title = {
        "text": chart.title,
        "subtitle": [said, missing] if missing else said,
        "fontSize": 14,
        "subtitleFontSize": 10,
        "offset": 12,
    }
    return replace(
        chart,
        alt=" ".join(filter(None, (f"{chart.alt} {said}.", missing))),
        spec={**chart.spec, "title": title},
    )
