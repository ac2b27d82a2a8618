"""Where the time of a process went, in parts that do not overlap. Pure, in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.contracts.doctor import Account
from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.elapsed import length, outside, shared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.doctor.elapsed import Span
    from coldwarm.stats.doctor.seen import Call, Seen


STAGES = ("trace", "lower", "compile", "cache_read")
_TIME, _COMPILES, _READS = 1, 2, 3
"""Where the counts of a line have these; first is the number of calls."""


@dataclass(frozen=True)
class Beyond:
    """Of one line and function."""

    n_compiles: int
    n_reads: int
    own_s: Mapping[str, float]
    """Seconds by stage: their sum was measured, and is divided as that of calls of the same kind
    that were written."""


def beyond(seen: Seen) -> dict[int, Beyond]:
    """Return what was counted and not written, by the slot of the counts that has more."""
    by_slot: dict[int, list[Call]] = {}
    for call in seen.calls:
        if call.slot is not None and call.slot + _READS < len(seen.counts):
            by_slot.setdefault(call.slot, []).append(call)
    return {
        slot: _beyond(seen.counts[slot : slot + _READS + 1], calls)
        for slot, calls in by_slot.items()
        if seen.counts[slot] > len(calls)
    }


def _beyond(counts: Sequence[int], calls: Sequence[Call]) -> Beyond:
    n_left = counts[0] - len(calls)
    compiled = [one for one in calls if one.compiled and not one.hit]
    read = [one for one in calls if one.hit]
    traced = [one for one in calls if not one.compiled]
    n_compiles = min(n_left, max(0, counts[_COMPILES] - len(compiled)))
    n_reads = min(n_left - n_compiles, max(0, counts[_READS] - len(read)))
    n_traced = n_left - n_compiles - n_reads
    shares = dict.fromkeys(STAGES, 0.0)
    kinds = ((n_compiles, compiled, "compile"), (n_reads, read, "cache_read"))
    for n, alike, last in (*kinds, (n_traced, traced, "trace")):
        for name in STAGES:
            mean_s = sum(one.own_s[name] for one in alike or calls) / len(alike or calls)
            ends = name in {"compile", "cache_read"} and not alike  # how others ended is not how
            shares[last if ends else name] += n * mean_s
    whole_s = sum(shares.values())
    left_s = max(0.0, counts[_TIME] / 1e9 - sum(one.total_s for one in calls))
    scale = left_s / whole_s if whole_s else 0.0
    return Beyond(n_compiles, n_reads, {name: scale * part for name, part in shares.items()})


def account(seen: Seen, begin_s: float, end_s: float) -> Account:
    """Divide the time from when a process was started until it had ended.

    Both are on the clock that the process uses, in seconds. Imports inside of a stage belong to
    that stage; of what overlaps in several threads each has its share, so that a second is
    counted once.
    """
    total_s = max(0.0, end_s - begin_s)
    stages = _stages(seen)
    devices = [row["seconds"] for row in seen.of_kind("devices")]
    devices_s = sum(devices) if seen.sees_calls else None
    import_s = sum(length(parts) for _, parts in imports(seen))
    run_s = _run_s(seen) if seen.sees_calls else None
    known_s = import_s + sum(stages.values()) + (devices_s or 0.0)
    if run_s is not None:  # of all threads; what overlaps is counted once
        run_s = min(run_s, max(0.0, total_s - known_s))
        known_s += run_s
    ends = [row["doctor_s"] for row in seen.of_kind("end")]
    why = because("needs_monitoring")
    reasons = {} if seen.sees_calls else {"devices_s": why, "run_s": why}
    if not ends:
        reasons["doctor_s"] = because("killed_before_its_end")
    before = unseen_before(seen)
    if "import_s" in before and not import_s:
        reasons["import_s"] = before["import_s"]
    if "devices_s" in before and not devices_s:
        reasons["devices_s"] = before["devices_s"]
    return Account(
        total_s=total_s,
        import_s=None if "import_s" in reasons else import_s,
        devices_s=None if "devices_s" in reasons else devices_s,
        trace_s=stages["trace"],
        lower_s=stages["lower"],
        compile_s=stages["compile"],
        cache_s=stages["cache_read"],
        run_s=run_s,
        other_s=max(0.0, total_s - known_s),
        doctor_s=sum(ends) if ends else None,
        null_reasons=reasons,
    )


def compiling_s(seen: Seen) -> float:
    """Return the seconds in which a process traced, lowered, compiled, or read programs."""
    return sum(_stages(seen).values())


def unseen_before(seen: Seen) -> dict[str, Reason]:
    """Return which parts of the time were over, all or most of them, before a block began."""
    block = next(seen.of_kind("block"), None)
    found: dict[str, Reason] = {}
    if block is None:
        return found
    if block["loaded"]:
        frameworks = ", ".join(map(str, block["loaded"]))
        found["import_s"] = because("imported_before", frameworks=frameworks)
    if block["devices"]:
        found["devices_s"] = because("devices_before")
    return found


def span_of(row: Mapping[str, Any]) -> Span:
    """Return from when to when a stage, an import, or the start of the devices lasted."""
    begin_s = row.get("begin_s", row["at_s"] - row["seconds"])
    return begin_s, begin_s + row["seconds"]


def imports(seen: Seen) -> list[tuple[str, list[Span]]]:
    """Return the imports, each with the time of it that belongs to nothing else."""
    taken = [span_of(row) for kind in ("stage", "devices") for row in seen.of_kind(kind)]
    found = []
    for row in sorted(seen.of_kind("import"), key=span_of):
        parts = outside(span_of(row), taken)
        found.append((str(row["name"]), parts))
        taken += parts  # another thread may import meanwhile
    return found


def _stages(seen: Seen) -> dict[str, float]:
    """Return the seconds of each stage, in all threads."""
    found = dict.fromkeys(STAGES, 0.0)
    known = {call.number for call in seen.calls}
    rows = [row for row in seen.of_kind("stage") if row["call"] in known]
    share = shared([span_of(row) for row in rows])
    for row in rows:
        whole_s = row["seconds"]
        weight = share(span_of(row)) / whole_s if whole_s > 0 else 1.0
        for name, seconds in row["own_s"].items():
            found[name] = found.get(name, 0.0) + seconds * weight
    for one in beyond(seen).values():
        for name, seconds in one.own_s.items():
            found[name] += seconds
    return found


def _run_s(seen: Seen) -> float:
    """Return the seconds in compiled functions, in operations, and in waiting for both."""
    dispatched = ("jitted", "operation", "concatenation")
    jitted = sum(one.counts[1] for kind in dispatched for one in seen.places_of(kind))
    waits = sum(one.counts[2] for one in seen.places_of("read"))
    waits += sum(one.counts[1] for one in seen.places_of("wait"))
    return (jitted + waits) / 1e9
