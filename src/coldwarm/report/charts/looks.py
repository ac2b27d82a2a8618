"""How a candidate looks, the same in every figure of a report.

The colours are those of Okabe and Ito ("Color universal design", 2008), which people with any
of the common colour blindnesses tell apart; in place of their yellow, too pale on white, a purple,
and in place of their black, which a dark page hides, a brown. Candidates beyond eight have these
colours again, with another dash and another shape. Nothing is told by colour alone: candidates are
named on an axis or beside their lines as well.

Parts of a process have the pale colours of Tol's scheme "light" (2021), made for areas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
"""Of what raises the memory of a process."""
UNKNOWN = "#b8b8b8"
"""Of what the data cannot tell."""


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
    return "#1f2328" if luminance(colour) > _BRIGHT else "#ffffff"


def luminance(colour: str) -> float:
    """Return the relative luminance of ``#rrggbb`` (0..1, WCAG)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)  # noqa: PLR2004
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
