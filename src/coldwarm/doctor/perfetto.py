"""Trace of what the doctor saw, as Perfetto opens it: JSON of trace events, times in microseconds.

The format is that of https://perfetto.dev/docs/getting-started/other-formats. Slices of the
categories of the account do not overlap in a thread, so that their durations add up to it; the
category ``call`` has the slices that lie around others.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.codec import cleaned
from coldwarm.doctor.time_account import imports
from coldwarm.doctor.trace import Devices, Stage, outside
from coldwarm.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from coldwarm.doctor.trace import CompiledCall, ProcessTrace, Span


_NS = 1e9
_SAME_S = 1e-6
_NUMBERS = 10_000_000
"""First number of threads besides the main ones, whose numbers are those of their processes."""
_ORDER = ("cache_read", "trace", "lower", "compile")
"""Order of the parts of one stage, of which the times are known and not when each began."""


@dataclass(frozen=True)
class _Slice:
    name: str
    kind: str
    span: Span
    thread: int
    told: Mapping[str, str] = field(default_factory=dict)


def perfetto_json(processes: Iterable[ProcessTrace], begin_s: float) -> str:
    """Return the trace of a program's processes; ``begin_s`` is where its time begins."""
    events: list[dict[str, Any]] = []
    for at, trace in enumerate(processes):
        events += _events(trace, begin_s, at)
    written = json.dumps({"traceEvents": cleaned(events), "displayTimeUnit": "ms"})
    # Perfetto 52 takes the end of a text that ends with a backslash for a part of it.
    return written.replace("\\\\", "\\u005c")


def _events(trace: ProcessTrace, begin_s: float, at: int) -> Iterator[dict[str, Any]]:
    pid = trace.process.pid or 0
    name = " ".join(trace.process.argv[1:]) or "python"
    slices = list(_slices(trace))
    main = trace.main_thread
    threads = list(dict.fromkeys([main, *(one.thread for one in slices)]))
    # Threads get small numbers of their own: Python's identities do not fit everywhere.
    numbers = {ident: _NUMBERS + at * 1000 + place for place, ident in enumerate(threads)}
    numbers[main] = pid
    yield _named("process_name", pid, pid, name)
    for place, thread in enumerate(threads):
        yield _named("thread_name", pid, numbers[thread], f"thread {place}" if place else "main")
    # Of two that begin together, the one around the other comes first.
    for one in sorted(slices, key=lambda one: (one.span[0], -one.span[1])):
        # Perfetto counts whole nanoseconds: what ends together has to do so in these.
        from_ns, to_ns = (round((at_s - begin_s) * _NS) for at_s in one.span)
        yield {
            "ph": "X",
            "name": printable(one.name),
            "cat": one.kind,
            "ts": from_ns / 1000,
            "dur": (to_ns - from_ns) / 1000,
            "pid": pid,
            "tid": numbers[one.thread],
            "args": {printable(key): printable(text) for key, text in one.told.items()},
        }


def _named(what: str, pid: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": pid, "tid": thread, "args": {"name": printable(name)}}


def _slices(trace: ProcessTrace) -> Iterator[_Slice]:
    for one, parts in imports(trace):
        for part in parts:
            yield _Slice(f"import {one.name}", "import", part, trace.thread_of(one))
    devices = [(trace.thread_of(row), row.span) for row in trace.rows_of(Devices)]
    for thread, span in devices:
        yield _Slice("devices", "devices", span, thread)
    calls = {call.number: call for call in trace.calls}
    for row in trace.rows_of(Stage):
        call = calls.get(row.call)
        if call is not None:
            yield from _stage(row, call, [span for one, span in devices if one == call.thread])


def _stage(row: Stage, call: CompiledCall, devices: Sequence[Span]) -> Iterator[_Slice]:
    """Yield a stage: as one slice, or around the parts that it has."""
    begin_s, end_s = row.span
    # The start of devices in a stage is left out of its time: so it began earlier.
    inner = []
    for one in reversed(devices):
        if begin_s - (one[1] - one[0]) - _SAME_S <= one[0] and one[1] <= end_s:
            inner.append(one)
            begin_s -= one[1] - one[0]
    own_s = {name: row.own_s.get(name, 0.0) for name in _ORDER}
    parts = [(name, seconds) for name, seconds in own_s.items() if seconds > 0]
    told, stage = _told(call), row.stage
    plain = len(parts) == 1 and parts[0][1] >= row.seconds - _SAME_S
    if not plain or inner:
        yield _Slice(f"{stage} {call.name}", "call", (begin_s, end_s), call.thread, told)
    free = outside((begin_s, end_s), inner)
    for name, seconds in parts:
        kind = "cache" if name == "cache_read" else name
        took, free = _taken(free, seconds)
        for part in took:
            yield _Slice(f"{kind} {call.name}", kind, part, call.thread, told)


def _taken(free: Sequence[Span], seconds: float) -> tuple[list[Span], list[Span]]:
    """Return the first part of free time that lasts so long, and what is left."""
    took: list[Span] = []
    left: list[Span] = []
    for begin_s, end_s in free:
        now_s = min(seconds, end_s - begin_s)
        if now_s > 0:
            took.append((begin_s, begin_s + now_s))
        if begin_s + now_s < end_s:
            left.append((begin_s + now_s, end_s))
        seconds -= now_s
    return took, left


def _told(call: CompiledCall) -> dict[str, str]:
    """Return what a click on an event shows."""
    told = {"function": call.name, **{f"argument {k}": v for k, v in call.arguments.items()}}
    if call.site is not None:
        told["at"] = f"{call.site.path}:{call.site.line}"
    for one in call.differences[:1]:
        told["compiled again for"] = f"{one.argument}: {one.before}, then {one.now}"
    return told
