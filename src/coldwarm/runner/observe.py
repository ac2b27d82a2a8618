"""Measured processes, and what they said as observations."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict, replace

from coldwarm.caches import HOME, modes, names_of_earlier
from coldwarm.contracts.base import WARM
from coldwarm.contracts.observation import (
    COUNTS,
    PARTS,
    Block,
    BlockCounts,
    CacheEvidence,
    Counts,
    Device,
    FirstCallParts,
    Gate,
    HarnessCost,
    HarnessFigures,
    Judgement,
    LoopAccount,
    Observation,
    OtherCalls,
    OtherCallSeconds,
    Phase,
    ProcessTotals,
    Telemetry,
    first_result_s,
)
from coldwarm.contracts.reasons import Reason, because, is_wrong, missing, together
from coldwarm.runner import machine_settings, replies, telemetry
from coldwarm.runner.replies import Counters, Parts, as_reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from coldwarm.caches.listing import Listing
    from coldwarm.clock import Clock
    from coldwarm.contracts.base import Allocator, CacheMode, CacheSettings
    from coldwarm.runner.case_list import Case, Options
    from coldwarm.runner.replies import LoopReply
    from coldwarm.runner.spawn import Guard, MeasuredProcess, ProcessFailedError


@dataclass
class RunContext:
    """Where a run's processes live: its options, its guard, and its working directory."""

    options: Options
    guard: Guard
    clock: Clock
    work: Path
    references: dict[str, str | None] = field(default_factory=dict)
    """Group to the path of its reference answers; ``None``: asked not to be checked."""
    inputs: dict[str, str] = field(default_factory=dict)
    """Group to the hash of its inputs."""
    order: list[str] = field(default_factory=list)
    """Every process and block in the order in which it ran."""
    gpu_search_path: str = ""
    """PATH of the processes that use a GPU."""
    measured_s: float = 0.0
    """Seconds in which a measured process ran."""
    since_ns: int = field(default_factory=time.time_ns)
    """From when on its processes may have written files, on the clock of the file system."""

    def next_order(self, what: str) -> int:
        """Put something down as next in time and return its position."""
        self.order.append(what)
        return len(self.order) - 1


@dataclass(frozen=True)
class Slot:
    """Which process this is: of which case, in which mode, round and attempt."""

    case: Case
    mode: CacheMode
    round: int
    attempt: int
    root: Path
    """Its caches."""
    persistent: bool = False
    analyse: bool = False
    other_calls: bool = False
    """Whether it shows, after its last word, what calls take that the timed loop does not make."""
    allocator: Allocator = "as_it_is"
    cache_settings: CacheSettings = "keep_all"
    hidden: frozenset[str] = frozenset()
    """Files that its program makes by itself where they are missing, as they are for it."""


@dataclass
class Begun:
    """A process that was started."""

    slot: Slot
    process: MeasuredProcess
    order: int
    started_at: str
    before: dict[str, Listing]
    """The caches before it."""
    start_telemetry: telemetry.Reading
    variables: Mapping[str, str]
    """What it had in its environment."""
    user_settings: Mapping[str, str]
    """What of it is a setting of the user's that may change what is measured."""


@dataclass(kw_only=True)
class Running(Begun):
    """A process after its start."""

    start: replies.Start
    start_after: telemetry.Reading
    start_cpu_s: float | None
    together: bool
    """Whether others started at the same time, so that nothing is said of its start."""
    input_sha256: str | None
    after: dict[str, Listing] = field(default_factory=dict)
    """The caches after its start, or after its end where it has no blocks."""
    end: replies.End | None = None
    """Its last word of what it measured; ``None``: it is alive."""
    other_calls: replies.OtherCallsReply | Reason | None = None
    """Or why there are none."""
    wall_s: float | None = None
    """From its spawn to its exit."""
    counted: bool = False
    """Whether the time of its process is in ``Place.measured_s``."""
    asked_to_end: bool = False
    blocks: list[Block] = field(default_factory=list)
    readings: list[telemetry.BlockReading] = field(default_factory=list)


_CLOCKS_S, _CLOCKS_SHARE = 1e-3, 0.01
"""By how much clocks may disagree about one call."""
_NO_ACCOUNT = because("not_told", by="the backend")


def call_parts(parts: Parts, whole_s: float) -> FirstCallParts:
    """Return the parts of a call, or of a loop; ``rest_s`` is what they leave of the whole.

    Parts and whole come from several clocks: parts that exceed the whole by no more than
    1 ms or 1 % are scaled to it. By more, the account is wrong, and none is published.
    """
    known: dict[str, float | None] = {name: getattr(parts, name) for name in PARTS}
    reasons = {name: as_reason(stated) for name, stated in parts.reasons.items()}
    total_s = sum(value for value in known.values() if value is not None)
    if total_s > whole_s + max(_CLOCKS_S, _CLOCKS_SHARE * whole_s):
        exceed = because("parts_exceed", parts_s=total_s, whole_s=whole_s)
        known, reasons, total_s = dict.fromkeys(PARTS), dict.fromkeys(PARTS, exceed), 0.0
    elif total_s > whole_s:
        scale = whole_s / total_s
        known = {name: None if v is None else v * scale for name, v in known.items()}
        total_s = whole_s
    return FirstCallParts(
        **known,
        rest_s=max(0.0, whole_s - total_s),
        null_reasons={
            name: reasons.get(name, _NO_ACCOUNT) for name, value in known.items() if value is None
        },
    )


def loop_account(
    loop: LoopReply | None, first: Parts, phases: Mapping[str, Phase]
) -> LoopAccount | None:
    """Return the account of a scenario's loop, ``None`` for what is no scenario.

    ``first`` are the parts of its first step.
    """
    if loop is None:
        return None
    first_call, remaining = phases["first_call"], phases["remaining_calls"]
    total_s = remaining.start_s + remaining.duration_s
    loop_s = first_call.duration_s + remaining.duration_s
    parts = call_parts(_joined(first, loop.parts), loop_s)
    compiling = None
    if loop.compiles is not None:
        compiling = [place for place, number in enumerate(loop.compiles) if number]
    known = [value for name in PARTS if (value := getattr(parts, name)) is not None]
    reasons = {}
    if compiling is None:
        reasons["compiling_steps"] = _NO_ACCOUNT
    if not known:
        reasons["compiling_share"] = parts.null_reasons["compile_s"]
    return LoopAccount(
        total_s=total_s,
        loop_s=loop_s,
        steps_s=[step / 1e9 for step in loop.steps_ns],
        compiling_steps=compiling,
        parts=parts,
        compiling_share=sum(known) / total_s if known else None,
        null_reasons=reasons,
    )


def _joined(first: Parts, rest: Parts) -> Parts:
    """Add the parts of the first step and of the others; a part that neither has is absent."""
    sums = {}
    for name in PARTS:
        known = [value for side in (first, rest) if (value := getattr(side, name)) is not None]
        sums[name] = sum(known) if known else None
    return replace(first, **sums, reasons={**first.reasons, **rest.reasons})


_NO_STATUS = because("not_told", by="this system")
_NO_GLIBC = {"allocator": because("no_glibc")}
_NO_COUNT = because("not_told", by="the backend")
_OF_OTHER_DATA = {"ignores_arguments", "wrong_for_others"}
"""Codes of checks that are told wherever it is told that an answer is wrong."""
_BY_PHASE = ("peak_rss_bytes", "involuntary_switches")


def phases(entered_ns: int, spans: Sequence[replies.PhaseReply], spawned_ns: int) -> list[Phase]:
    """Return the phases on the axis that starts at the spawn, the interpreter's first."""
    interpreter = Phase(
        name="interpreter",
        start_s=0.0,
        duration_s=(entered_ns - spawned_ns) / 1e9,
        null_reasons=dict.fromkeys(_BY_PHASE, because("not_yet_read")),
    )
    return [interpreter, *(_phase(span, spawned_ns) for span in spans)]


def _phase(span: replies.PhaseReply, spawned_ns: int) -> Phase:
    counted = {name: getattr(span, name) for name in _BY_PHASE}
    return Phase(
        name=span.name,
        start_s=(span.begin_ns - spawned_ns) / 1e9,
        duration_s=(span.end_ns - span.begin_ns) / 1e9,
        **counted,
        null_reasons=missing(counted, _NO_STATUS),
    )


def block(
    reply: replies.BlockReply, order: int, spawned_ns: int, bound_to: int | None = None
) -> Block:
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
    further = told.gate if isinstance(told, replies.OtherCallsReply) else None
    gate = _gate(first_gate, end.gate if end else None, further)
    if gate is not None and not gate.passed:
        reason = _of_answer(gate.reason)
        return Observation(**common, status="failed", reason=reason, gate=gate)
    in_force = _settings(running)
    against = reason_against(slot.case, in_force)
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
        first_call_parts=call_parts(start.parts, first.duration_s),
        loop=loop_account(start.loop, start.parts, by_name),
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


def files_of_earlier(observation: Observation) -> frozenset[str]:
    """Return the files of an earlier process that a process read, as far as they are named."""
    found = [one for one in observation.evidence if one.owner == HOME]
    return frozenset(name for one in found for name in names_of_earlier(one))


def _settings(running: Running) -> dict[str, str]:
    """Return what was set and may change what is measured: by the user, a file or a module."""
    case, found = running.slot.case, running.start.settings or replies.Found()
    known = machine_settings.known(found.variables)
    changed = {name: v for name, v in known.items() if running.variables.get(name) != v}
    configured = dict(found.configured)
    if case.described is None and case.dtype == "f64":
        configured.pop("jax_enable_x64", None)  # its backend has set it
    frameworks = machine_settings.frameworks_of(case.backend) or set(found.loaded)
    every = {**running.user_settings, **changed, **configured}
    return machine_settings.relevant(every, frameworks, gpu=case.device == "gpu")


def _checked(
    start: replies.Start, end: replies.End | None
) -> tuple[replies.GateReply | None, str | None]:
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


def _gate(first: replies.GateReply | None, *later: replies.GateReply | None) -> Gate | None:
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
    told: replies.OtherCallsReply | Reason | None,
) -> tuple[OtherCalls | None, dict[str, Reason]]:
    if told is None:
        return None, {}
    return (None, {"other_calls": told}) if isinstance(told, Reason) else (other_calls(told), {})


def other_calls(reply: replies.OtherCallsReply) -> OtherCalls:
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
    reason = reason_against(slot.case, error.settings) or error.reason
    return Observation(
        **_common(slot, order, date, wall_s),
        status="failed",
        reason=reason,
        stderr_tail=error.detail or None,
        null_reasons=dict.fromkeys(("ttfr_s", "ttfr_process_s"), reason),
    )


def reason_against(case: Case, found: Mapping[str, str]) -> Reason | None:
    """Return why a case of the project's own cannot be measured under settings."""
    if case.described is not None:
        return None
    changing = machine_settings.changing(found, case.backend)
    if not changing:
        return None
    return because("setting_changes", backend=case.backend.name, setting_names=changing)
