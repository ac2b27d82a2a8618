"""Rows of data as few bytes: column by column, compressed, every number as it was.

A pack is gzip of: the length of its head (4 bytes, little-endian), the head as JSON, and the
columns' bytes, to which the head has offsets. A column has one of these kinds:

``same``
    one value for all rows, in the head.
``choice``
    a few values, in the head, and for each row which of them: one byte or two.
``time``
    seconds that a clock of nanoseconds gave for a number of calls: for each row ``n`` (four
    bytes), and one of a few numbers ``d`` of calls in the head (a byte each, left out where there
    is one alone). The value is exactly ``n / d / 1e9``.
``number``
    eight bytes each; NaN stands for a missing one.

Bytes of one significance stand together, because they are alike. Columns that are the same are
stored once.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from coldwarm.report.charts.chart import Columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Value = str | float | int | bool | None
    Rows = Sequence[Mapping[str, Value]]

_LEVEL = 6
_MOST_CHOICES = 2**16
_FEW = 2**8
_MOST_NS = 2**32 - 1
_ENDING = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&"})
"""Text that could end a script element or begin a comment, written so that JSON means the same."""
_NUMBERS = {int, float, type(None)}


class Pack:
    """Data sets by name, each a list of rows with the same fields."""

    def __init__(self, calls: Iterable[int] = (1,)) -> None:
        """``calls``: the numbers of calls that a sample may be the mean of."""
        self._calls = sorted({1, *calls})
        self._columns: list[dict[str, Any]] = []
        self._known: dict[tuple[str, bytes], int] = {}
        self._body = bytearray()
        self._sets: dict[str, dict[str, Any]] = {}
        self.notes: dict[str, Any] = {}
        """Notes: what is no rows, as JSON can hold it."""

    def add(self, name: str, rows: Rows) -> None:
        """Add a data set, once where it is named again."""
        if name in self._sets:
            return
        if isinstance(rows, Columns):
            columns: Mapping[str, Sequence[Value]] = rows.columns
        else:
            fields = dict.fromkeys(key for row in rows for key in row)
            columns = {key: [row.get(key) for row in rows] for key in fields}
        placed = {key: self._column(values) for key, values in columns.items()}
        self._sets[name] = {"n": len(rows), "fields": placed}

    def text(self) -> str:
        """Return the pack in base64."""
        head = json.dumps(
            {"sets": self._sets, "columns": self._columns, "notes": self.notes}, allow_nan=False
        )
        length = len(head).to_bytes(4, "little")
        data = gzip.compress(length + head.encode() + bytes(self._body), _LEVEL, mtime=0)
        return base64.b64encode(data).decode()

    def _column(self, values: Sequence[Value]) -> int:
        kind, more, data = self._written(values)
        key = (kind + json.dumps(more), data)
        if key not in self._known:
            self._known[key] = len(self._columns)
            self._columns.append({"kind": kind, "at": len(self._body), **more})
            self._body += data
        return self._known[key]

    def _written(self, values: Sequence[Value]) -> tuple[str, dict[str, Any], bytes]:
        kinds = set(map(type, values))
        first = values[0] if values else None
        if len(kinds) <= 1 and all(value == first for value in values):
            return "same", {"value": first}, b""
        if kinds <= _NUMBERS:
            return self._of_numbers(values)
        # Values are told apart by their kind as well: True is not 1.
        keys: list[Any] = list(values) if len(kinds) == 1 else [(type(v), v) for v in values]
        choices = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        named = list(choices) if len(kinds) == 1 else [key[1] for key in choices]
        return _chosen(named, [choices[key] for key in keys])

    def _of_numbers(self, values: Sequence[Value]) -> tuple[str, dict[str, Any], bytes]:
        found = np.array([np.nan if v is None else v for v in values], dtype=np.float64)
        distinct, places = np.unique(found, return_inverse=True)
        if len(distinct) <= _FEW < len(found):
            return _chosen([_plain(one) for one in distinct.tolist()], places.tolist())
        if (as_time := self._as_time(found)) is not None:
            return as_time
        return "number", {}, _planes(found)

    def _as_time(self, values: Floats) -> tuple[str, dict[str, Any], bytes] | None:
        """Return seconds as nanoseconds of so many calls; ``None``: some are not exactly that."""
        ns = np.zeros(len(values), dtype=np.uint32)
        of = np.zeros(len(values), dtype=np.uint8)
        left = np.ones(len(values), dtype=bool)
        for place, calls in enumerate(self._calls[:_FEW]):
            with np.errstate(invalid="ignore", over="ignore"):
                counted = np.rint(values * 1e9 * calls)
                fits = left & (counted >= 0) & (counted <= _MOST_NS)
                fits &= counted / calls / 1e9 == values
            ns[fits], of[fits] = counted[fits].astype(np.uint32), place
            left &= ~fits
            if not left.any():
                break
        if left.any():
            return None
        used = np.unique(of)
        body = _planes(ns)
        if len(used) == 1:
            return "time", {"calls": [self._calls[used[0]]]}, body
        return "time", {"calls": self._calls[:_FEW]}, body + of.tobytes()


def _chosen(choices: list[Value], places: list[int]) -> tuple[str, dict[str, Any], bytes]:
    if len(choices) > _MOST_CHOICES:
        text = f"a column holds {len(choices)} different texts, more than {_MOST_CHOICES}"
        raise ValueError(text)
    kind = np.uint8 if len(choices) <= _FEW else np.uint16
    body = _planes(np.array(places, dtype=kind))
    return "choice", {"values": choices, "bytes": np.dtype(kind).itemsize}, body


def _planes(values: NDArray[Any]) -> bytes:
    """Return little-endian numbers, first the lowest byte of all, then the next."""
    size = values.dtype.itemsize
    plain = values.astype(values.dtype.newbyteorder("<"))
    return plain.view(np.uint8).reshape(-1, size).T.tobytes()


def _plain(value: float) -> float | None:
    return None if value != value else value  # noqa: PLR0124 - NaN alone differs from itself


def embedded(value: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    """Return JSON that can stand in a script element of a page: nothing in it ends one."""
    encoded = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return encoded.translate(_ENDING)
