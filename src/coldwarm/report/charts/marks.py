"""Axes and marks that figures of different kinds have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldwarm.report.charts.theme import BYTES_AXIS, SECONDS_AXIS
from coldwarm.report.charts.workload import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import NamedTuple

    from coldwarm.report.charts.chart import Row, Spec

WIDTH = 560
"""Of a figure's plot, in pixels, without the names beside it."""
ROW = 26
"""Height of a candidate's row."""


def rows(found: Iterable[NamedTuple]) -> list[Row]:
    """Return records as rows of a data set, every text as figures show it."""
    return [
        {key: shown(value) if isinstance(value, str) else value for key, value in one._asdict().items()}
        for one in found
    ]


def data(name: str) -> Spec:
    """Return the reference to a data set."""
    return {"name": name}


def candidates(names: Sequence[str]) -> Spec:
    """Return the axis that has a row for each candidate."""
    return {"field": "candidate", "type": "nominal", "sort": list(names), "title": None}


def seconds(field: str, title: str, *, log: bool = False, **more: Any) -> Spec:  # noqa: ANN401
    """Return an axis of seconds."""
    axis = {"labelExpr": SECONDS_AXIS, "tickCount": 6, "labelOverlap": True}
    scale: Spec = {"type": "log", "nice": False} if log else {}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": scale, **more}


def n_bytes(field: str, title: str, **more: Any) -> Spec:  # noqa: ANN401
    """Return an axis of bytes."""
    axis = {"labelExpr": BYTES_AXIS, "tickCount": 6, "labelOverlap": True}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, **more}


def only(**values: str | bool) -> list[Spec]:
    """Return the filter that keeps rows with these values, which are no foreign text."""
    return [{"filter": {"field": key, "equal": value}} for key, value in values.items()]


def there(found: Iterable[Mapping[str, Any]], key: str, order: Iterable[str]) -> list[str]:
    """Return which of the values in this order any row has under a key."""
    have = {row[key] for row in found}
    return [value for value in order if value in have]
