"""Where the time of a process went, and at which lines it compiled. Pure, in seconds.

Parts do not overlap, and what several threads compile at once is not counted several times.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.contracts.doctor import Account, CallSite, LineTime
from coldwarm.contracts.reasons import because
from coldwarm.doctor.trace import (
    STAGES,
    BlockBegin,
    Devices,
    Enough,
    Import,
    ProcessEnd,
    Stage,
    length,
    outside,
    shared,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace, SourceLine, Span


_TIME, _COMPILES, _READS = 1, 2, 3
"""Where the counts of a line have these; first is the number of calls."""


_LEAST_S = 0.01
"""Seconds of a line that is told: fewer are chance."""


@dataclass(frozen=True)
class _UnloggedCalls:
    """Calls of one line and function that the log lacks."""

    n_compiles: int
    n_reads: int
    own_s: Mapping[str, float]
    """Seconds by stage: their sum was measured, and is divided as that of calls of the same kind
    that were written."""


def unlogged_calls(trace: ProcessTrace) -> dict[int, _UnloggedCalls]:
    """Return what was counted and not written, by the slot of the counts that has more."""
    by_slot: dict[int, list[CompiledCall]] = {}
    for call in trace.calls:
        if call.slot is not None and call.slot + _READS < len(trace.counts):
            by_slot.setdefault(call.slot, []).append(call)
    return {
        slot: _unlogged(trace.counts[slot : slot + _READS + 1], calls)
        for slot, calls in by_slot.items()
        if trace.counts[slot] > len(calls)
    }


def _unlogged(counts: Sequence[int], calls: Sequence[CompiledCall]) -> _UnloggedCalls:
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
    return _UnloggedCalls(
        n_compiles, n_reads, {name: scale * part for name, part in shares.items()}
    )


def account(trace: ProcessTrace, begin_s: float, end_s: float) -> Account:
    """Divide the time from when a process was started until it had ended.

    Both are on the clock that the process uses, in seconds. Imports inside of a stage belong to
    that stage; of what overlaps in several threads each has its share, so that a second is
    counted once.
    """
    total_s = max(0.0, end_s - begin_s)
    stages = _stages(trace)
    devices = [row.seconds for row in trace.rows_of(Devices)]
    devices_s = sum(devices) if trace.sees_calls else None
    imported_s = import_s(trace)
    run_s = _run_s(trace) if trace.sees_calls else None
    known_s = imported_s + sum(stages.values()) + (devices_s or 0.0)
    if run_s is not None:  # of all threads; what overlaps is counted once
        run_s = min(run_s, max(0.0, total_s - known_s))
        known_s += run_s
    ends = [row.doctor_s for row in trace.rows_of(ProcessEnd)]
    why = because("needs_monitoring")
    reasons = {} if trace.sees_calls else {"devices_s": why, "run_s": why}
    if not ends:
        reasons["doctor_s"] = because("killed_before_its_end")
    before = unseen_before(trace)
    if "import_s" in before and not imported_s:
        reasons["import_s"] = before["import_s"]
    if "devices_s" in before and not devices_s:
        reasons["devices_s"] = before["devices_s"]
    return Account(
        total_s=total_s,
        import_s=None if "import_s" in reasons else imported_s,
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


def compiling_s(trace: ProcessTrace) -> float:
    """Return the seconds in which a process traced, lowered, compiled, or read programs."""
    return sum(_stages(trace).values())


def import_s(trace: ProcessTrace) -> float:
    """Return the seconds in which a process imported installed packages, and did nothing else."""
    return sum(length(parts) for _, parts in imports(trace))


def unseen_before(trace: ProcessTrace) -> dict[str, Reason]:
    """Return which parts of the time were over, all or most of them, before a block began."""
    block = next(iter(trace.rows_of(BlockBegin)), None)
    found: dict[str, Reason] = {}
    if block is None:
        return found
    if block.loaded:
        frameworks = ", ".join(block.loaded)
        found["import_s"] = because("imported_before", frameworks=frameworks)
    if block.devices:
        found["devices_s"] = because("devices_before")
    return found


def imports(trace: ProcessTrace) -> list[tuple[Import, list[Span]]]:
    """Return the imports, each with the time of it that belongs to nothing else."""
    taken = [row.span for row in trace.rows_of(Stage)]
    taken += [row.span for row in trace.rows_of(Devices)]
    found = []
    for row in sorted(trace.rows_of(Import), key=lambda row: row.span):
        parts = outside(row.span, taken)
        found.append((row, parts))
        taken += parts  # another thread may import meanwhile
    return found


def _stages(trace: ProcessTrace) -> dict[str, float]:
    """Return the seconds of each stage, in all threads."""
    found = dict.fromkeys(STAGES, 0.0)
    known = {call.number for call in trace.calls}
    rows = [row for row in trace.rows_of(Stage) if row.call in known]
    share = shared([row.span for row in rows])
    for row in rows:
        weight = share(row.span) / row.seconds if row.seconds > 0 else 1.0
        for name, seconds in row.own_s.items():
            found[name] = found.get(name, 0.0) + seconds * weight
    for one in unlogged_calls(trace).values():
        for name, seconds in one.own_s.items():
            found[name] += seconds
    return found


def _run_s(trace: ProcessTrace) -> float:
    """Return the seconds in compiled functions, in operations, and in waiting for both."""
    jitted = sum(one.counts[1] for one in trace.places_of("jitted"))
    kinds = ("operation", "concatenation")
    operations = sum(one.counts[1] for kind in kinds for one in trace.places_of(kind))
    if trace.rows_of(Enough):  # the rest was not timed one by one
        seen_s = sum(seconds for spot, seconds in trace.spent if spot.below.startswith("jax."))
        operations = max(operations, round(seen_s * 1e9))
    waits = sum(one.counts[2] for one in trace.places_of("read"))
    waits += sum(one.counts[1] for one in trace.places_of("wait"))
    return (jitted + operations + waits) / 1e9


def call_sites(trace: ProcessTrace) -> list[CallSite]:
    """Return the lines of the user's at which something was compiled, the slowest first."""
    groups: dict[tuple[SourceLine, str], list[CompiledCall]] = {}
    for call in trace.calls:
        if call.site is not None:
            groups.setdefault((call.site, call.name), []).append(call)
    unlogged = unlogged_calls(trace)
    found = []
    for (line, _), calls in groups.items():
        slots = unlogged.keys() & {call.slot for call in calls}
        # Calls of one slot may have several names: what is left counts once.
        found.append(_site(trace, line, calls, [unlogged.pop(slot) for slot in slots]))
    return sorted(found, key=lambda one: -one.total_s)


def line_times(trace: ProcessTrace) -> list[LineTime]:
    """Return the lines at which the first thread was apart from compiling, the longest first.

    What was compiled there and counted alone is left out too.
    """
    times: dict[tuple[SourceLine, str], float] = {}
    for spot, seconds in trace.spent:
        key = spot.stack[0], spot.below
        times[key] = times.get(key, 0.0) + seconds
    unlogged = unlogged_calls(trace)
    sites = {call.slot: call.site for call in trace.calls}
    for slot, rest in unlogged.items():
        site, left_s = sites[slot], sum(rest.own_s.values())
        for key in sorted(times, key=lambda key: -times[key]):
            if key[0] == site:
                taken_s = min(left_s, times[key])
                times[key] -= taken_s
                left_s -= taken_s
    times |= _import_times(trace)
    return [
        LineTime(
            path=site.path,
            line=site.line,
            caller=site.function,
            source=trace.sources.line(site.path, site.line),
            runs=below,
            seconds=seconds,
        )
        for (site, below), seconds in sorted(times.items(), key=lambda one: -one[1])
        if seconds >= _LEAST_S
    ]


def _import_times(trace: ProcessTrace) -> dict[tuple[SourceLine, str], float]:
    """Return the seconds of each import that was seen, by its line and its name."""
    rows = imports(trace)
    begins = [row.begin_s for row, _ in rows]
    sites: dict[int, Counter[SourceLine]] = {}
    for spot, (from_s, to_s) in trace.looked():
        for at in range(bisect_right(begins, to_s) - 1, -1, -1):
            begin_s, end_s = rows[at][0].span
            if end_s <= from_s:
                break
            both_ns = round((min(to_s, end_s) - max(from_s, begin_s)) * 1e9)
            sites.setdefault(at, Counter())[spot.stack[0]] += both_ns
    found: dict[tuple[SourceLine, str], float] = {}
    for at, counts in sites.items():
        row, parts = rows[at]
        key = counts.most_common(1)[0][0], f"import {row.name}"
        found[key] = found.get(key, 0.0) + length(parts)
    return found


def _site(
    trace: ProcessTrace, line: SourceLine, calls: list[CompiledCall], unlogged: list[_UnloggedCalls]
) -> CallSite:
    parts = [*(one.own_s for one in calls), *(one.own_s for one in unlogged)]
    own_s = {name: sum(part[name] for part in parts) for name in STAGES}
    n_compiles = sum(one.compiled and not one.hit for one in calls)
    n_reads = sum(one.hit for one in calls)
    n_calls = _n_calls(trace, line, calls[0].name)
    n_slow = None if n_calls is None else min(n_calls, _n_slow(trace, line, calls, unlogged))
    largest = max(
        (one.memory for one in calls if one.memory), key=lambda one: one.temporary, default=None
    )
    reasons = {}
    if n_calls is None:
        reasons["n_calls"] = reasons["n_slow_calls"] = because(
            "called_elsewhere" if trace.sees_calls else "needs_monitoring"
        )
    if untraced := _is_untraced(trace, calls, own_s["trace"]):
        reasons["trace_s"] = because("trace_untold")
    if largest is None:
        reasons["temporary_bytes"] = reasons["arguments_bytes"] = because("memory_not_shown")
    return CallSite(
        path=line.path,
        line=line.line,
        caller=line.function,
        framework=calls[0].framework,
        function=calls[0].name,
        is_operation=calls[0].is_frameworks,
        n_compiles=n_compiles + sum(one.n_compiles for one in unlogged),
        n_reads=n_reads + sum(one.n_reads for one in unlogged),
        n_calls=n_calls,
        n_slow_calls=n_slow,
        total_s=sum(own_s.values()),
        trace_s=None if untraced else own_s["trace"],
        lower_s=own_s["lower"],
        compile_s=own_s["compile"],
        cache_s=own_s["cache_read"],
        causes=dict(Counter(kind for one in calls if (kind := one.again_for) is not None)),
        misses=dict(Counter(one.missed for one in calls if one.missed)),  # type: ignore[arg-type] # of these kinds
        temporary_bytes=largest.temporary if largest else None,
        arguments_bytes=largest.arguments if largest else None,
        null_reasons=reasons,
    )


def _is_untraced(trace: ProcessTrace, calls: list[CompiledCall], trace_s: float) -> bool:
    """Say whether JAX has told of no tracing, though a call was compiled.

    Who follows calls sees it in any case.
    """
    compiled = any(one.compiled for one in calls)
    return compiled and not trace_s and not trace.sees_calls and calls[0].framework == "jax"


def _n_calls(trace: ProcessTrace, line: SourceLine, name: str) -> int | None:
    if not trace.sees_calls:
        return None
    short = name.rpartition(".")[2]
    counted = [one.n for one in trace.places_at("jitted", line) if one.name == short]
    return sum(counted) if counted else None


def _n_slow(
    trace: ProcessTrace, line: SourceLine, calls: list[CompiledCall], unlogged: list[_UnloggedCalls]
) -> int:
    """Return how many calls went through Python, but for those that something was compiled for."""
    short = calls[0].short_name
    n = sum(one.counts[2] for one in trace.places_at("jitted", line) if one.name == short)
    return max(0, n - len(calls) - sum(one.n_compiles + one.n_reads for one in unlogged))
