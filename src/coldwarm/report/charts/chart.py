"""What a figure is: a specification that names its data, and the words that go with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coldwarm.report.charts.theme import config

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.report.charts.theme import Theme

    Spec = dict[str, Any]
    Row = Mapping[str, Any]

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
VERSION = "6.4"
"""Of Vega-Lite, for which specifications are written."""


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
    """What there is to see, and how to read it."""
    alt: str
    """The same in a sentence with its main numbers, for who does not see the figure."""
    spec: Spec
    data: Mapping[str, Sequence[Row]]

    def whole(self, theme: Theme = "light") -> Spec:
        """Return the specification with its data and the theme: all that is needed to draw it."""
        datasets = {name: [dict(row) for row in rows] for name, rows in self.data.items()}
        return {"$schema": _SCHEMA, **self.spec, "config": config(theme), "datasets": datasets}
