"""The shape of what a measured process may say; anything else is a failure of its own.

A candidate shares the process with the worker, so whatever comes up the pipe may have
been written by either. A reply that does not have its shape is told from one that has
before anything is computed from it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from coldwarm import wire
from coldwarm.contracts.base import Count, Seconds, Sha256
from coldwarm.contracts.observation import HarnessCost

_PHASES = ["import", "device_init", "setup", "wrap", "first_call", "second_call"]
_LOOP_PHASES = [*_PHASES[:-1], "remaining_calls", _PHASES[-1]]
_MAKING = ["import", "device_init", "setup", "wrap", "make"]
_HARNESS = set(HarnessCost.__struct_fields__) - {"load_s", "null_reasons"}
_Moment = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
_Number = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]


class MalformedReplyError(Exception):
    """A line that is no reply, or not the one that was due; the message says why."""


class _Span(msgspec.Struct):
    name: str
    begin_ns: _Moment
    end_ns: _Moment
    peak_rss_bytes: Count | None
    involuntary_switches: Count | None


class _Gate(msgspec.Struct, forbid_unknown_fields=True):
    passed: bool
    max_abs_error: float | None
    max_scaled_error: float | None
    tolerance: float
    reason: str | None


class _Device(msgspec.Struct, forbid_unknown_fields=True):
    platform: str
    kind: str
    count: Count
    memory_peak_bytes: Count | None


class _Counters(msgspec.Struct):
    requests: Count | None = None
    hits: Count | None = None
    misses: Count | None = None
    writes: Count | None = None
    bypasses: Count | None = None
    compiles: Count | None = None
    raw: dict[str, float | int | str | None] = {}


class _Parts(msgspec.Struct):
    trace_s: Seconds | None
    lower_s: Seconds | None
    compile_s: Seconds | None
    cache_read_s: Seconds | None
    reasons: dict[str, str] = {}


class _Loop(msgspec.Struct):
    steps_ns: Annotated[list[_Number], msgspec.Meta(min_length=1)]
    compiles: list[Count] | None
    parts: _Parts


class _Start(msgspec.Struct):
    type: Literal["start"]
    entered_ns: _Moment
    loaded_ns: _Moment
    phases: list[_Span]
    parts: _Parts
    counters: dict[str, _Counters]
    bytecode: dict[str, Count]
    read_bytes: Count | None
    gate: _Gate | None
    input_sha256: Sha256
    device: _Device
    versions: dict[str, str]
    loop: _Loop | None = None


class _Block(msgspec.Struct):
    type: Literal["block"]
    start_ns: _Moment
    batch: Annotated[int, msgspec.Meta(ge=1)]
    samples_ns: Annotated[list[_Number], msgspec.Meta(min_length=1)]
    compiles: Count | None
    involuntary_switches: Count
    page_faults: Count
    idle_cpu_s: Seconds
    cpu_s: Seconds
    wall_ns: Count


class _End(msgspec.Struct):
    type: Literal["end"]
    gate: _Gate | None
    involuntary_switches: Count
    cpu_user_s: Seconds
    cpu_system_s: Seconds
    child_cpu_s: Seconds
    counters: dict[str, _Counters]
    device: _Device
    harness: dict[str, Seconds | None] | None
    analysis: dict[str, float | int | None]


class _Reference(msgspec.Struct):
    type: Literal["reference"]
    input_sha256: Sha256


class _Made(msgspec.Struct):
    type: Literal["made"]
    entered_ns: _Moment
    phases: list[_Span]
    parts: _Parts
    counters: dict[str, _Counters]
    input_sha256: Sha256
    device: _Device
    versions: dict[str, str]
    involuntary_switches: Count
    cpu_user_s: Seconds
    cpu_system_s: Seconds
    child_cpu_s: Seconds


class _Inspection(msgspec.Struct):
    type: Literal["inspect"]
    kind: Literal["function", "factory"]
    file: str | None
    placement: str | None
    arguments: list[str]
    outputs: list[str]
    input_sha256: Sha256
    mutates: bool
    repeats: bool
    own_cache: str | None
    further: Count
    device: Literal["cpu", "gpu"]
    counters: dict[str, _Counters]


class _Marked(msgspec.Struct):
    type: Literal["marked"]
    file: str | None
    marked: list[dict[str, Any]]


class _Failed(msgspec.Struct):
    type: Literal["failed"]
    reason: str
    detail: str


Kind = Literal["start", "block", "end", "reference", "made", "inspect", "marked", "failed"]
_SHAPES: dict[str, type[msgspec.Struct]] = {
    "start": _Start,
    "block": _Block,
    "end": _End,
    "reference": _Reference,
    "made": _Made,
    "inspect": _Inspection,
    "marked": _Marked,
    "failed": _Failed,
}


def read(line: bytes, due: Kind, spawned_ns: int) -> dict[str, Any]:
    """Return the reply in a line: the one that is due, or ``failed``.

    Raises:
        MalformedReplyError: it is no message, another one, or one without its shape.
    """
    try:
        message = wire.decode(line)
        msgspec.json.encode(message)  # half a surrogate pair could not be written down
    except (ValueError, OverflowError) as error:
        text = f"garbage on the pipe: {line[:60]!r}"
        raise MalformedReplyError(text) from error
    kind = message.get("type")
    if kind != due and kind != "failed":  # noqa: PLR1714 - it may be unhashable
        text = f"garbage on the pipe: expected a {due!r} message, got {str(kind)[:40]!r}"
        raise MalformedReplyError(text)
    try:
        said = msgspec.convert(message, _SHAPES[str(kind)])
    except msgspec.ValidationError as error:
        text = f"malformed {kind!r} message: {error}"
        raise MalformedReplyError(text) from error
    if isinstance(said, _Start):
        _check_order(said, spawned_ns)
    if isinstance(said, _Made):
        _check_making(said, spawned_ns)
    if isinstance(said, _End) and said.harness is not None and set(said.harness) != _HARNESS:
        text = f"malformed 'end' message: expected the harness figures {sorted(_HARNESS)}"
        raise MalformedReplyError(text)
    if isinstance(said, _Block) and said.start_ns < spawned_ns:
        text = "malformed 'block' message: it began before the process did"
        raise MalformedReplyError(text)
    return message


def _is_new_shape(name: str) -> bool:
    return name.startswith("new_shape_")


def _check_order(said: _Start, spawned_ns: int) -> None:
    """Refuse phases that are missing, overlap, or lie before the spawn."""
    names = [span.name for span in said.phases]
    due = _PHASES if said.loop is None else _LOOP_PHASES
    if names[: len(due)] != due or not all(map(_is_new_shape, names[len(due) :])):
        text = f"malformed 'start' message: expected the phases {', '.join(due)}"
        raise MalformedReplyError(text)
    stamps = [spawned_ns, said.entered_ns, said.loaded_ns]
    stamps += [stamp for span in said.phases for stamp in (span.begin_ns, span.end_ns)]
    if stamps != sorted(stamps):
        text = "malformed 'start' message: its phases are not one after the other"
        raise MalformedReplyError(text)


def _check_making(said: _Made, spawned_ns: int) -> None:
    """Refuse a making whose phases are missing, overlap, or lie before the spawn."""
    stamps = [stamp for span in said.phases for stamp in (span.begin_ns, span.end_ns)]
    stamps = [spawned_ns, said.entered_ns, *stamps]
    if [span.name for span in said.phases] != _MAKING or stamps != sorted(stamps):
        text = f"malformed 'made' message: expected {', '.join(_MAKING)}, one after the other"
        raise MalformedReplyError(text)
