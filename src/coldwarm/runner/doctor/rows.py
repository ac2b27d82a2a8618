"""The lines of a journal: read one by one, and refused where they are not what the doctor writes.

The file may have been cut off, changed or copied by hand: what is no JSON is left out, as a
program may have been ended in the middle of a line.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

import msgspec

from coldwarm.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_Slot = Annotated[int, msgspec.Meta(ge=0)]
_Stack = list[tuple[str, int, str]]
_Differences = list[dict[str, Any]]


class _Row(TypedDict):
    kind: str
    at_s: float


class _Cause(TypedDict):
    kind: str
    differences: NotRequired[_Differences | None]
    held: NotRequired[_Differences | None]


class _Signature(TypedDict):
    arguments: NotRequired[dict[str, str]]
    static: NotRequired[dict[str, str]]
    from_host: NotRequired[dict[str, int]]


class _Call(_Row):
    call: int
    framework: str
    stack: _Stack
    function: dict[str, Any]
    cause: _Cause
    thread: int
    slot: NotRequired[_Slot | None]
    captured: NotRequired[list[str] | None]
    signature: NotRequired[_Signature | None]


class _Memory(TypedDict):
    temporary: int
    arguments: int


class _Stage(_Row):
    call: int
    stage: str
    begin_s: float
    seconds: float
    own_s: dict[str, float]
    hit: bool | None
    program: dict[str, Any] | None
    memory: NotRequired[_Memory | None]


class _Place(_Row):
    what: str
    name: str
    stack: _Stack
    slot: _Slot


class _Import(_Row):
    name: str
    begin_s: float
    seconds: float


class _Devices(_Row):
    seconds: float


class _Framework(_Row):
    name: str
    versions: dict[str, str]


class _Clock(_Row):
    slot: _Slot
    thread: int


class _Key(_Row):
    name: str
    before: _Stack
    stack: _Stack
    made: _Stack
    n_made: int
    apart: int | None


class _Error(_Row):
    error: str
    stack: list[tuple[str, int | None, str]]
    inside: list[str]


class _Break(_Row):
    stack: _Stack
    text: str


class _Failed(_Row):
    at: str
    error: str


class _Kept(_Row):
    name: str
    file: str | None
    why: str


class _End(_Row):
    doctor_s: float


class _Process(_Row):
    argv: NotRequired[list[str]]


_KINDS: dict[str, Any] = {
    "process": _Process,
    "call": _Call,
    "stage": _Stage,
    "place": _Place,
    "import": _Import,
    "devices": _Devices,
    "framework": _Framework,
    "clock": _Clock,
    "key": _Key,
    "error": _Error,
    "break": _Break,
    "failed": _Failed,
    "kept": _Kept,
    "end": _End,
}
"""What a line of each kind must have; another kind has its moment alone."""


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a journal; the last one may have been cut off.

    Raises:
        ContractError: a line lacks something, or has something of another type.
    """
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict) and "kind" in row:
                _check(row, path, number)
                yield row


def _check(row: dict[str, Any], path: Path, number: int) -> None:
    kind = row["kind"]
    try:
        msgspec.convert(row, _KINDS.get(kind, _Row) if isinstance(kind, str) else _Row)
    except msgspec.ValidationError as error:
        text = f"this is no line of the doctor's journal: {error}"
        raise ContractError(str(path), text, line=number) from None
