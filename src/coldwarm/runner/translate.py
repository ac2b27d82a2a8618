"""Turns a worker's messages into records. Pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict, replace

from coldwarm.caches import files, modes
from coldwarm.contracts.base import WARM
from coldwarm.contracts.observation import (
    COUNTS,
    Block,
    BlockCounts,
    CacheEvidence,
    Counts,
    Device,
    Gate,
    HarnessCost,
    HarnessFigures,
    Judgement,
    Observation,
    OtherCalls,
    OtherCallSeconds,
    Phase,
    ProcessTotals,
    Telemetry,
    first_result_s,
)
from coldwarm.contracts.reasons import Reason, because, is_wrong, missing, together
from coldwarm.runner import accounts
from coldwarm.runner.machine import settings, telemetry
from coldwarm.runner.process import replies
from coldwarm.runner.process.replies import Counters, as_reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.caches.listing import Listing
    from coldwarm.contracts.base import CacheMode
    from coldwarm.runner.process.spawn import ProcessFailedError
    from coldwarm.runner.running import Running, Slot

_NO_STATUS = because("not_told", by="this system")
_NO_GLIBC = {"allocator": because("no_glibc")}
_NO_COUNT = because("not_told", by="the backend")
_OF_OTHER_DATA = {"ignores_arguments", "wrong_for_others"}
"""Codes of checks that are told wherever it is told that an answer is wrong."""
_BY_PHASE = ("peak_rss_bytes", "involuntary_switches")


def phases(entered_ns: int, spans: Sequence[replies.Span], spawned_ns: int) -> list[Phase]:
    """Return the phases on the axis that starts at the spawn, the interpreter's first."""
    interpreter = Phase(
        name="interpreter",
        start_s=0.0,
        duration_s=(entered_ns - spawned_ns) / 1e9,
        null_reasons=dict.fromkeys(_BY_PHASE, because("not_yet_read")),
    )
    return [interpreter, *(_phase(span, spawned_ns) for span in spans)]


def _phase(span: replies.Span, spawned_ns: int) -> Phase:
    counted = {name: getattr(span, name) for name in _BY_PHASE}
    return Phase(
        name=span.name,
        start_s=(span.begin_ns - spawned_ns) / 1e9,
        duration_s=(span.end_ns - span.begin_ns) / 1e9,
        **counted,
        null_reasons=missing(counted, _NO_STATUS),
    )


def block(reply: replies.Block, order: int, spawned_ns: int, bound_to: int | None = None) -> Block:
    """Return a block of warm calls, in seconds for one call."""
    counted = {name: getattr(reply, name) for name in BlockCounts.__struct_fields__}
    reasons = missing(counted, _NO_STATUS)
    if reply.compiles is None:
        stated = reply.uncounted
        reasons["compiles"] = _NO_COUNT if stated is None else as_reason(stated)
    if bound_to is None:
        reasons["bound_to"] = because("not_bound")
    return Block(
        **counted,
        order=order,
        start_s=(reply.start_ns - spawned_ns) / 1e9,
        samples_s=[sample / reply.batch / 1e9 for sample in reply.samples_ns],
        wall_s=reply.wall_ns / 1e9,
        bound_to=bound_to,
        null_reasons=reasons,
    )


def evidence(
    before: Mapping[str, Listing],
    after: Mapping[str, Listing],
    counters: Mapping[str, Counters],
    raw: Mapping[str, Mapping[str, int | None]] = MappingProxyType({}),
) -> list[CacheEvidence]:
    """Return what is known of every cache that a process may use, by listings and counters.

    ``raw`` are figures by owner that nobody's counters hold.
    """
    found = []
    for owner, old in before.items():
        new, counted = after[owner], counters.get(owner, Counters())
        counts = {name: getattr(counted, name) for name in COUNTS}
        one = CacheEvidence(
            owner=owner,
            **counts,
            files_before=old.count,
            files_after=new.count,
            bytes_before=old.total_bytes,
            bytes_after=new.total_bytes,
            new_files=new.new_since(old),
            raw={**counted.raw, **raw.get(owner, {})},
            null_reasons={
                name: as_reason(counted.reasons[name]) if name in counted.reasons else reason
                for name, reason in missing(counts, because("not_told", by=owner)).items()
            },
        )
        found.append(one)
    return found


def observation(running: Running) -> Observation:
    """Return what a process saw, so far or in all."""
    slot, start, end = running.slot, running.start, running.end
    alive_s = running.start_after.now_s - running.start_telemetry.now_s
    wall_s = alive_s if running.wall_s is None else running.wall_s
    common = _common(slot, running.order, running.started_at, wall_s)
    first_gate, input_sha256 = _checked(start, end)
    if input_sha256 is not None and running.input_sha256 not in {None, input_sha256}:
        return Observation(**common, status="failed", reason=because("other_inputs"))
    told = running.other_calls
    further = told.gate if isinstance(told, replies.OtherCalls) else None
    gate = _gate(first_gate, end.gate if end else None, further)
    if gate is not None and not gate.passed:
        reason = _of_answer(gate.reason)
        return Observation(**common, status="failed", reason=reason, gate=gate)
    in_force = _settings(running)
    against = settings.against(slot.case, in_force)
    if against is not None:
        return Observation(**common, status="failed", reason=against, settings=in_force)
    spans = phases(start.entered_ns, start.phases, running.process.spawned_ns)
    by_name = {span.name: span for span in spans}
    first = by_name["first_call"]
    ttfr_s, ttfr_process_s = first_result_s(by_name)
    bytecode = {**start.bytecode, "storage_read_bytes": start.read_bytes}
    found = [
        _with_default(one, slot)
        for one in evidence(running.before, running.after, start.counters, {"bytecode": bytecode})
    ]
    allocator = slot.allocator if start.glibc else None
    others, no_others = _other_calls(running.other_calls)
    judgements = _judgements(running, found)
    contradicted = _contradicted(slot.mode, judgements)
    return Observation(
        **{**common, "allocator": allocator},
        also_modes=[mode for mode in judgements if mode != slot.mode],
        status="rejected" if contradicted else "ok",
        reason=contradicted,
        phases=spans,
        ttfr_s=ttfr_s,
        ttfr_process_s=ttfr_process_s,
        first_call_parts=accounts.of_call(start.parts, first.duration_s),
        loop=accounts.of_loop(start.loop, start.parts, by_name),
        blocks=running.blocks,
        other_calls=others,
        evidence=found,
        judgements={str(mode): judgement for mode, judgement in judgements.items()},
        gate=gate,
        input_sha256=input_sha256,
        bytecode=start.bytecode,
        device=device(end.device if end else start.device),
        compiled=end.analysis if end else {},
        counts=end.counts if end else Counts(),
        versions=start.versions,
        settings=in_force,
        harness=_harness(start, end.harness if end else None),
        telemetry=_telemetry(running),
        null_reasons={**no_others, **({} if allocator is not None else _NO_GLIBC)},
    )


def of_earlier(observation: Observation) -> frozenset[str]:
    """Return the files of an earlier process that a process read, as far as they are named."""
    found = [one for one in observation.evidence if one.owner == files.OWNER]
    return frozenset(name for one in found for name in files.names(one))


def _settings(running: Running) -> dict[str, str]:
    """Return what was set and may change what is measured: by the user, a file or a module."""
    case, found = running.slot.case, running.start.settings or replies.Found()
    known = settings.known(found.variables)
    changed = {name: v for name, v in known.items() if running.variables.get(name) != v}
    configured = dict(found.configured)
    if case.described is None and case.dtype == "f64":
        configured.pop("jax_enable_x64", None)  # its backend has set it
    frameworks = settings.frameworks_of(case.backend) or set(found.loaded)
    every = {**running.user_settings, **changed, **configured}
    return settings.relevant(every, frameworks, gpu=case.device == "gpu")


def _checked(
    start: replies.Start, end: replies.End | None
) -> tuple[replies.Gate | None, str | None]:
    """Return the check of the first output and the hash of the inputs, once they are told."""
    if end is not None and end.first is not None:
        return end.first.gate, end.first.input_sha256
    return start.gate, start.input_sha256


def _with_default(one: CacheEvidence, slot: Slot) -> CacheEvidence:
    kept = modes.kept_by_default(one, on_request=slot.case.backend.keeps_on_request)
    return replace(one, kept_by_default=kept)


def _common(slot: Slot, order: int, started_at: str, wall_s: float) -> dict[str, Any]:
    return {
        "case": slot.case.id,
        "cache_mode": slot.mode,
        "round": slot.round,
        "attempt": slot.attempt,
        "allocator": slot.allocator,
        "cache_settings": slot.cache_settings,
        "order": order,
        "started_at": started_at,
        "wall_s": wall_s,
    }


def _judgements(running: Running, found: Sequence[CacheEvidence]) -> dict[CacheMode, Judgement]:
    """Judge the mode of a start, and the warm regime of its blocks."""
    slot = running.slot
    judgements = {slot.mode: _judged_start(slot, found)}
    moved = running.start.moved
    if moved and slot.mode != WARM:
        reason = because("caches_moved", setting_names=moved)
        judgements[slot.mode] = Judgement(proved=False, reason=reason)
    if slot.persistent and running.blocks:
        judgements[WARM] = modes.judge_blocks(running.blocks)
    return judgements


def _judged_start(slot: Slot, found: Sequence[CacheEvidence]) -> Judgement:
    compiles = slot.case.backend.compiles
    return modes.judge(slot.mode, found, compiles=compiles, cache_settings=slot.cache_settings)


def _contradicted(mode: CacheMode, judgements: Mapping[CacheMode, Judgement]) -> Reason | None:
    """Return what the evidence says against a process; a proved start outlives its warm blocks."""
    if judgements[mode].proved:
        return None
    against = [
        because("contradicted", judgement.reason, mode=name)
        for name, judgement in judgements.items()
        if not judgement.proved
    ]
    return together(against)


def _gate(first: replies.Gate | None, *later: replies.Gate | None) -> Gate | None:
    """Return the worst check of a process's answers, and which were checked."""
    if first is None:
        return None
    places = ("first_call", "last_call", "other_data")
    known = {place: one for place, one in zip(places, (first, *later), strict=True) if one}
    worst = max(known.values(), key=lambda gate: (not gate.passed, gate.max_relative_error or 0.0))
    return Gate(
        **asdict(worst) | {"reason": None if worst.reason is None else as_reason(worst.reason)},
        checked=list(known),
    )


def _of_answer(why: Reason | None) -> Reason:
    """Return why a process whose answer has failed its check counts for nothing."""
    if why is not None and is_wrong(why):
        return why
    return because("correctness_gate", *([why] if why and why.code in _OF_OTHER_DATA else []))


def device(reported: Device) -> Device:
    """Return the device as the process's framework names it."""
    if reported.memory_peak_bytes is not None:
        return reported
    reasons = {"memory_peak_bytes": because("not_told", by="the device")}
    return replace(reported, null_reasons=reasons)


def _other_calls(
    told: replies.OtherCalls | Reason | None,
) -> tuple[OtherCalls | None, dict[str, Reason]]:
    if told is None:
        return None, {}
    return (None, {"other_calls": told}) if isinstance(told, Reason) else (other_calls(told), {})


def other_calls(reply: replies.OtherCalls) -> OtherCalls:
    """Return what calls took in other circumstances than those of the timed loop."""
    seconds = {name: getattr(reply, name) for name in OtherCallSeconds.__struct_fields__}
    reasons = missing(seconds, _NO_STATUS)
    stated = {name: as_reason(reply.reasons[name]) for name in reasons if name in reply.reasons}
    if reply.unchecked is not None:
        stated["answers_checked"] = reply.unchecked
    return OtherCalls(
        **seconds,
        varied=reply.varied,
        not_varied=reply.not_varied,
        answer_changed=reply.answer_changed,
        answers_checked=None if reply.unchecked is not None else reply.unlike is None,
        unlike=reply.unlike,
        folded=reply.folded,
        null_reasons={**reasons, **stated},
    )


def _harness(start: replies.Start, figures: HarnessFigures | None) -> HarnessCost:
    values = asdict(figures or HarnessFigures())
    return HarnessCost(
        **values,
        load_s=(start.loaded_ns - start.entered_ns) / 1e9,
        null_reasons=missing(
            values, because("persistent_only" if figures is None else "synchronous")
        ),
    )


def _telemetry(running: Running) -> Telemetry:
    """Return the machine's doings during the start, and what others did during the blocks.

    A persistent process goes on for long after its start: its switches in all say
    nothing about how often it was interrupted in it.
    """
    counted = [span.involuntary_switches for span in running.start.phases]
    known = [number for number in counted if number is not None]
    totals = totals_of(running.end) if running.end else ProcessTotals()
    totals = replace(
        totals, involuntary_switches=sum(known) if len(known) == len(counted) else None
    )
    measured = telemetry.between(
        running.start_telemetry, running.start_after, running.start_cpu_s, totals
    )
    seen = telemetry.during_blocks(running.readings)
    warm = {"warm_foreign_cpu": seen.foreign_cpu, "warm_throttled_s": seen.throttled_s}
    unread = {"warm_foreign_cpu": _NO_STATUS, "warm_throttled_s": because("group_unseen")}
    reasons = {name: why for name, why in measured.null_reasons.items() if warm.get(name) is None}
    if running.readings:
        reasons |= {name: unread[name] for name, value in warm.items() if value is None}
    if running.together:
        reasons["foreign_cpu"] = because("started_together")
    flags = [*measured.flags, *seen.flags]
    return replace(measured, **warm, flags=flags, null_reasons=reasons)


def totals_of(ended: ProcessTotals) -> ProcessTotals:
    """Return what a process has used in all, without what else it said."""
    return ProcessTotals(**{name: getattr(ended, name) for name in ProcessTotals.__struct_fields__})


def failed(
    slot: Slot, error: ProcessFailedError, date: str, order: int, wall_s: float
) -> Observation:
    """Return the observation of a process that gave no result."""
    reason = settings.against(slot.case, error.settings) or error.reason
    return Observation(
        **_common(slot, order, date, wall_s),
        status="failed",
        reason=reason,
        stderr_tail=error.detail or None,
        null_reasons=dict.fromkeys(("ttfr_s", "ttfr_process_s"), reason),
    )
