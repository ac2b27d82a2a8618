"""What the doctor saw as a trace that Perfetto opens: JSON of trace events, times in microseconds.

The format is that of https://perfetto.dev/docs/getting-started/other-formats.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from coldwarm.stats.doctor.seen import Call, Seen

_US = 1e6


def trace(processes: Iterable[Seen], begin_s: float) -> str:
    """Return the trace of a program's processes; ``begin_s`` is where its time begins."""
    events = [event for seen in processes for event in _events(seen, begin_s)]
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"})


def _events(seen: Seen, begin_s: float) -> Iterator[dict[str, Any]]:
    pid = int(seen.process.get("pid", 0))
    name = " ".join(map(str, seen.process.get("argv", [])[1:])) or "python"
    yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
    main = seen.calls[0].thread if seen.calls else 0
    for row in seen.of_kind("import"):
        spent = {"begin_s": row["begin_s"], "seconds": row["seconds"]}
        yield _event(f"import {row['name']}", "import", spent, pid, main, begin_s)
    for row in seen.of_kind("devices"):
        spent = {"begin_s": row["at_s"] - row["seconds"], "seconds": row["seconds"]}
        yield _event("devices", "devices", spent, pid, main, begin_s)
    calls = {call.number: call for call in seen.calls}
    for row in seen.of_kind("stage"):
        call = calls.get(row["call"])
        if call is not None:
            stage = "read" if row["hit"] else row["stage"]
            event = _event(f"{stage} {call.name}", stage, row, pid, call.thread, begin_s)
            yield {**event, "args": _told(call)}


def _event(  # noqa: PLR0913, PLR0917 - as many as an event has fields
    name: str, kind: str, spent: Mapping[str, Any], pid: int, thread: int, begin_s: float
) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": name,
        "cat": kind,
        "ts": (spent["begin_s"] - begin_s) * _US,
        "dur": spent["seconds"] * _US,
        "pid": pid,
        "tid": thread,
    }


def _told(call: Call) -> dict[str, str]:
    """Return what a click on an event shows."""
    told = {"function": call.name, **{f"argument {k}": v for k, v in call.arguments.items()}}
    if call.site is not None:
        told["at"] = f"{call.site.path}:{call.site.line}"
    for one in call.differences[:1]:
        told["compiled again for"] = f"{one['argument']}: {one['before']}, then {one['now']}"
    return told
