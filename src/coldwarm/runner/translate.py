"""Turns a worker's messages into records. Pure, but for one read of a process's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psutil
from msgspec.structs import replace

from coldwarm.caches import listing, modes
from coldwarm.contracts.observation import (
    Block,
    CacheEvidence,
    Device,
    Gate,
    HarnessCost,
    Judgement,
    Observation,
    Phase,
    Telemetry,
)
from coldwarm.runner import accounts
from coldwarm.runner.machine import telemetry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.caches.listing import Listing
    from coldwarm.contracts.base import CacheMode
    from coldwarm.runner.process.spawn import ProcessFailedError
    from coldwarm.runner.running import Running, Slot

_NO_STATUS = "this system does not tell it"
_COUNTS = ("requests", "hits", "misses", "writes", "bypasses", "compiles")


def cpu_so_far(pid: int) -> float | None:
    """Return the processor time of a living process and its ended children, in seconds."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return None
    return float(times.user + times.system + times.children_user + times.children_system)


def phases(said: Mapping[str, Any], spawned_ns: int) -> list[Phase]:
    """Return the phases on the axis that starts at the spawn, the interpreter's first."""
    interpreter = Phase(
        name="interpreter",
        start_s=0.0,
        duration_s=(said["entered_ns"] - spawned_ns) / 1e9,
        null_reasons={
            "peak_rss_bytes": "read from the first phase of the worker on",
            "involuntary_switches": "read from the first phase of the worker on",
        },
    )
    return [interpreter, *(_phase(span, spawned_ns) for span in said["phases"])]


def _phase(span: Mapping[str, Any], spawned_ns: int) -> Phase:
    measured = {name: span[name] for name in ("peak_rss_bytes", "involuntary_switches")}
    return Phase(
        name=span["name"],
        start_s=(span["begin_ns"] - spawned_ns) / 1e9,
        duration_s=(span["end_ns"] - span["begin_ns"]) / 1e9,
        **measured,
        null_reasons={name: _NO_STATUS for name, value in measured.items() if value is None},
    )


def block(
    said: Mapping[str, Any], order: int, spawned_ns: int, bound_to: int | None = None
) -> Block:
    """Return a block of warm calls, in seconds for one call."""
    batch = said["batch"]
    reasons = {}
    if said["compiles"] is None:
        reasons["compiles"] = "the backend keeps no count of compiles"
    if bound_to is None:
        reasons["bound_to"] = "it ran wherever the system put it"
    return Block(
        order=order,
        start_s=(said["start_ns"] - spawned_ns) / 1e9,
        batch=batch,
        samples_s=[sample / batch / 1e9 for sample in said["samples_ns"]],
        compiles=said["compiles"],
        involuntary_switches=said["involuntary_switches"],
        page_faults=said["page_faults"],
        idle_cpu_s=said["idle_cpu_s"],
        cpu_s=said["cpu_s"],
        wall_s=said["wall_ns"] / 1e9,
        bound_to=bound_to,
        null_reasons=reasons,
    )


def evidence(running: Running) -> list[CacheEvidence]:
    """Return the counters and listings of every cache the process may use, after its start."""
    counters, after = running.start["counters"], running.after
    return [
        cache_evidence(
            owner,
            before,
            listing.take(running.slot.root / owner) if after is None else after[owner],
            counters.get(owner, {}),
            _bytecode(running, owner),
        )
        for owner, before in running.before.items()
    ]


def cache_evidence(
    owner: str,
    before: Listing,
    after: Listing,
    said: Mapping[str, Any],
    also: Mapping[str, Any] | None = None,
) -> CacheEvidence:
    """Return the evidence of one cache: listings, and what its counters said."""
    counts = {name: said.get(name) for name in _COUNTS}
    return CacheEvidence(
        owner=owner,
        **counts,
        files_before=before.count,
        files_after=after.count,
        bytes_before=before.total_bytes,
        bytes_after=after.total_bytes,
        new_files=after.new_since(before),
        raw={**said.get("raw", {}), **(also or {})},
        null_reasons={
            name: "its owner keeps no such count" for name, v in counts.items() if v is None
        },
    )


def _bytecode(running: Running, owner: str) -> dict[str, int | None]:
    if owner != "bytecode":
        return {}
    return {**running.start["bytecode"], "storage_read_bytes": running.start["read_bytes"]}


def observation(
    running: Running, *, end: Mapping[str, Any] | None, exit_wall_s: float | None
) -> Observation:
    """Return what a process saw; ``end`` is ``None`` while a process stays alive."""
    slot, said, spawned_ns = running.slot, running.start, running.process.spawned_ns
    if running.input_sha256 not in {None, said["input_sha256"]}:
        reason = "inputs: not those of the other candidates; inputs() must depend on rng alone"
        return Observation(**_common(running, exit_wall_s), status="failed", reason=reason)
    gates = [said["gate"]] + ([end["gate"]] if end and end["gate"] else [])
    gate = _gate(gates)
    common = _common(running, exit_wall_s)
    if gate is not None and not gate.passed:
        return Observation(**common, status="failed", reason="correctness_gate", gate=gate)
    spans = phases(said, spawned_ns)
    by_name = {span.name: span for span in spans}
    first = by_name["first_call"]
    found = evidence(running)
    backend = slot.case.backend
    judgements: dict[str, Judgement] = {
        slot.mode: modes.judge(slot.mode, found, compiles=backend.compiles)
    }
    if slot.persistent and running.blocks:
        judgements["warm_process"] = modes.judge_blocks(running.blocks)
    # A start that is proved stays good when its warm blocks are not.
    own = [judgements[slot.mode]]
    if slot.mode == "warm_process":
        own = list(judgements.values())
    proved = all(judgement.proved for judgement in own)
    also: list[CacheMode] = []
    if slot.mode != "warm_process" and "warm_process" in judgements:
        also = ["warm_process"]
    return Observation(
        **common,
        also_modes=also,
        status="ok" if proved else "rejected",
        reason=None if proved else _contradictions(judgements),
        phases=spans,
        ttfr_s=by_name["import"].duration_s + first.duration_s,
        ttfr_process_s=first.start_s + first.duration_s,
        first_call_parts=accounts.of_call(said["parts"], first.duration_s),
        loop=accounts.of_loop(said, by_name),
        blocks=running.blocks,
        evidence=found,
        judgements=judgements,
        gate=gate,
        input_sha256=said["input_sha256"],
        bytecode=said["bytecode"],
        device=device(end["device"] if end else said["device"]),
        compiled={} if end is None else end["analysis"],
        versions=said["versions"],
        harness=_harness(said, end),
        telemetry=_telemetry(running, end),
    )


def _common(running: Running, exit_wall_s: float | None) -> dict[str, Any]:
    slot = running.slot
    alive_s = running.start_after.now_s - running.start_telemetry.now_s
    return {
        "case": slot.case.id,
        "cache_mode": slot.mode,
        "round": slot.round,
        "attempt": slot.attempt,
        "order": running.order,
        "started_at": running.started_at,
        "wall_s": alive_s if exit_wall_s is None else exit_wall_s,
    }


def _contradictions(judgements: Mapping[str, Judgement]) -> str:
    return "; ".join(
        f"{mode}: {judgement.reason}"
        for mode, judgement in judgements.items()
        if not judgement.proved
    )


def _gate(said: list[Mapping[str, Any]]) -> Gate | None:
    if not said or said[0] is None:
        return None
    worst = max(said, key=lambda gate: (not gate["passed"], gate["max_scaled_error"] or 0.0))
    names = ["first_call", "last_call"][: len(said)]
    return Gate(**worst, checked=names)


def device(said: Mapping[str, Any]) -> Device:
    """Return the device as the process's framework names it."""
    reasons = {}
    if said["memory_peak_bytes"] is None:
        reasons["memory_peak_bytes"] = "the device reports no memory of its own"
    return Device(**said, null_reasons=reasons)


def _harness(said: Mapping[str, Any], end: Mapping[str, Any] | None) -> HarnessCost:
    load_s = (said["loaded_ns"] - said["entered_ns"]) / 1e9
    cost = end["harness"] if end else None
    names = ("timer_s", "loop_s", "sync_s", "unsynced_call_s")
    if cost is None:
        why = "measured in processes that stay"
        return HarnessCost(load_s=load_s, null_reasons=dict.fromkeys(names, why))
    missing = {name: "calls return finished results" for name in names if cost[name] is None}
    return HarnessCost(load_s=load_s, **cost, null_reasons=missing)


def _telemetry(running: Running, end: Mapping[str, Any] | None) -> Telemetry:
    """Return the machine's doings during the start, and what others did during the blocks.

    A process that stays goes on for long after its start: its switches in all say
    nothing about how often it was interrupted in it.
    """
    counted = [span["involuntary_switches"] for span in running.start["phases"]]
    switches = None if None in counted else sum(counted)
    said = {**(end or {}), "involuntary_switches": switches}
    seen = telemetry.between(
        running.start_telemetry, running.start_after, running.start_cpu_s, said
    )
    used, flags = telemetry.during_blocks(running.readings)
    reasons = dict(seen.null_reasons)
    if used is not None:
        del reasons["warm_foreign_cpu"]
    elif running.readings:
        reasons["warm_foreign_cpu"] = _NO_STATUS
    return replace(seen, warm_foreign_cpu=used, flags=[*seen.flags, *flags], null_reasons=reasons)


def failed(
    slot: Slot, error: ProcessFailedError, date: str, order: int, wall_s: float = 0.0
) -> Observation:
    """Return the observation of a process that gave no result."""
    return Observation(
        case=slot.case.id,
        cache_mode=slot.mode,
        round=slot.round,
        attempt=slot.attempt,
        order=order,
        status="failed",
        reason=error.reason,
        stderr_tail=error.detail or None,
        started_at=date,
        wall_s=wall_s,
        null_reasons=dict.fromkeys(("ttfr_s", "ttfr_process_s"), error.reason),
    )
