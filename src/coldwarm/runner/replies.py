"""What a measured process may say, and the record of it; anything else is a failure of its own.

A candidate shares the process with the worker, so whatever comes up the pipe may have
been written by either. A reply that does not have its shape is distinguished from one that has
before anything is computed from it. What a process counts of itself has the fields of the
record that it becomes a part of; a reply knows how to make that record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec
from msgspec.structs import asdict, replace

from coldwarm import wire
from coldwarm.contracts.base import Count, Record, Seconds, Sha256
from coldwarm.contracts.observation import (
    COUNTS,
    PARTS,
    PHASES,
    Block,
    BlockCounts,
    CacheCounts,
    CacheEvidence,
    CallParts,
    Counts,
    Device,
    FirstCallParts,
    Gate,
    GateFigures,
    HarnessFigures,
    LoopAccount,
    OtherCalls,
    OtherCallSeconds,
    Phase,
    PhaseCounts,
    ProcessTotals,
    SharedCalls,
)
from coldwarm.contracts.reasons import Reason, because, missing
from coldwarm.runner.spawn import MeasuredProcess, ProcessFailedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.caches.listing import Listing

_PHASES = [*PHASES[1:]]
_LOOP_PHASES = [*_PHASES[:-1], "remaining_calls", _PHASES[-1]]
_BUILDING = [*_PHASES[:3], "build", *_PHASES[3:]]
_MAKING = ["import", "device_init", "setup", "wrap", "make"]
_Moment = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
_Durations = Annotated[list[_Moment], msgspec.Meta(min_length=1)]
_Stated = str | Reason
"""A reason as a process gives it: a code with its values, or words of its own."""
_BY_PHASE = ("peak_rss_bytes", "involuntary_switches")
_CLOCKS_S, _CLOCKS_SHARE = 1e-3, 0.01
"""By how much clocks may disagree about one call."""
NO_STATUS = because("not_told", by="this system")
_NOT_TOLD = because("not_told", by="the backend")


class _MalformedReplyError(Exception):
    """A line that is no reply, or not the one that was due."""

    def __init__(self, reason: Reason) -> None:
        """Keep the reason."""
        super().__init__(str(reason))
        self.reason = reason


def _as_reason(stated: _Stated) -> Reason:
    """Return a reason of the measured side; words of its own are kept as they are."""
    return stated if isinstance(stated, Reason) else because("stated", text=stated)


class _PhaseReply(PhaseCounts, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """A phase, on the clock of the process."""

    begin_ns: _Moment
    end_ns: _Moment

    def phase(self, spawned_ns: int) -> Phase:
        """Return the phase on the axis that starts at the spawn."""
        counted = {name: getattr(self, name) for name in _BY_PHASE}
        return Phase(
            name=self.name,
            start_s=(self.begin_ns - spawned_ns) / 1e9,
            duration_s=(self.end_ns - self.begin_ns) / 1e9,
            **counted,
            null_reasons=missing(counted, NO_STATUS),
        )


def _spans(entered_ns: int, phases: Sequence[_PhaseReply], spawned_ns: int) -> list[Phase]:
    """Return the phases on the axis that starts at the spawn, the interpreter's first."""
    interpreter = Phase(
        name="interpreter",
        start_s=0.0,
        duration_s=(entered_ns - spawned_ns) / 1e9,
        null_reasons=dict.fromkeys(_BY_PHASE, because("not_yet_read")),
    )
    return [interpreter, *(one.phase(spawned_ns) for one in phases)]


class _GateReply(GateFigures, frozen=True, kw_only=True):
    """An output against the reference."""

    reason: _Stated | None

    def together(self, *later: _GateReply | None) -> Gate:
        """Return the worst check of a process's answers, of which this was the first."""
        places = ("first_call", "last_call", "other_data")
        known = {at: one for at, one in zip(places, (self, *later), strict=True) if one}
        worst = max(known.values(), key=lambda one: (not one.passed, one.max_relative_error or 0.0))
        reason = None if worst.reason is None else _as_reason(worst.reason)
        return Gate(**asdict(worst) | {"reason": reason}, checked=list(known))


class Counters(CacheCounts, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Counts of the owner of a cache."""

    raw: dict[str, float | int | str | None] = msgspec.field(default_factory=dict)
    reasons: dict[str, _Stated] = msgspec.field(default_factory=dict)

    def evidence(
        self,
        owner: str,
        before: Listing,
        after: Listing,
        raw: Mapping[str, int | None] | None = None,
    ) -> CacheEvidence:
        """Return what is known of the cache, by listings and counters; ``raw``: by nobody's."""
        counts = {name: getattr(self, name) for name in COUNTS}
        reasons = missing(counts, because("not_told", by=owner))
        stated = {name: _as_reason(self.reasons[name]) for name in reasons if name in self.reasons}
        return CacheEvidence(
            owner=owner,
            **counts,
            files_before=before.count,
            files_after=after.count,
            bytes_before=before.total_bytes,
            bytes_after=after.total_bytes,
            new_files=after.new_since(before),
            raw={**self.raw, **(raw or {})},
            null_reasons=reasons | stated,
        )


class _Parts(CallParts, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """The parts of a call, and why some are missing."""

    reasons: dict[str, _Stated] = msgspec.field(default_factory=dict)

    def within(self, whole_s: float) -> FirstCallParts:
        """Return the parts of a call, or of a loop; ``rest_s`` is what they leave of the whole.

        Parts and whole come from several clocks: parts that exceed the whole by no more than
        1 ms or 1 % are scaled to it. By more, the account is wrong, and none is published.
        """
        known: dict[str, float | None] = {name: getattr(self, name) for name in PARTS}
        reasons = {name: _as_reason(stated) for name, stated in self.reasons.items()}
        total_s = sum(value for value in known.values() if value is not None)
        if total_s > whole_s + max(_CLOCKS_S, _CLOCKS_SHARE * whole_s):
            exceed = because("parts_exceed", parts_s=total_s, whole_s=whole_s)
            known, reasons, total_s = dict.fromkeys(PARTS), dict.fromkeys(PARTS, exceed), 0.0
        elif total_s > whole_s:
            scale = whole_s / total_s
            known = {name: None if v is None else v * scale for name, v in known.items()}
            total_s = whole_s
        unknown = [name for name, value in known.items() if value is None]
        return FirstCallParts(
            **known,
            rest_s=max(0.0, whole_s - total_s),
            null_reasons={name: reasons.get(name, _NOT_TOLD) for name in unknown},
        )

    def joined(self, rest: _Parts) -> _Parts:
        """Add the parts of further steps; a part that neither has is absent."""
        sums = {}
        for name in PARTS:
            known = [value for side in (self, rest) if (value := getattr(side, name)) is not None]
            sums[name] = sum(known) if known else None
        return replace(self, **sums, reasons={**self.reasons, **rest.reasons})


class _LoopReply(Record, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """The loop of a scenario; ``parts`` are of all steps but the first."""

    steps_ns: _Durations
    compiles: list[Count] | None
    parts: _Parts

    def account(self, first: _Parts, phases: Mapping[str, Phase]) -> LoopAccount:
        """Return the account of the loop; ``first`` are the parts of its first step."""
        first_call, remaining = phases["first_call"], phases["remaining_calls"]
        total_s = remaining.start_s + remaining.duration_s
        loop_s = first_call.duration_s + remaining.duration_s
        parts = first.joined(self.parts).within(loop_s)
        compiling = None
        if self.compiles is not None:
            compiling = [place for place, number in enumerate(self.compiles) if number]
        known = [value for name in PARTS if (value := getattr(parts, name)) is not None]
        reasons = {}
        if compiling is None:
            reasons["compiling_steps"] = _NOT_TOLD
        if not known:
            reasons["compiling_share"] = parts.null_reasons["compile_s"]
        return LoopAccount(
            total_s=total_s,
            loop_s=loop_s,
            steps_s=[step / 1e9 for step in self.steps_ns],
            compiling_steps=compiling,
            parts=parts,
            compiling_share=sum(known) / total_s if known else None,
            null_reasons=reasons,
        )


class Found(Record, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Settings that are not as the frameworks come; see ``coldwarm.frameworks.settings``."""

    loaded: list[str] = msgspec.field(default_factory=list)
    variables: dict[str, str] = msgspec.field(default_factory=dict)
    configured: dict[str, str] = msgspec.field(default_factory=dict)


class Start(Record, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="start"):
    """After the second call; of a process without blocks also after the gate."""

    entered_ns: _Moment
    phases: list[_PhaseReply]
    parts: _Parts
    counters: dict[str, Counters]
    device: Device
    versions: dict[str, str]
    loaded_ns: _Moment
    bytecode: dict[str, Count]
    read_bytes: Count | None
    gate: _GateReply | None
    input_sha256: Sha256 | None
    """``None``: its end has it, and the gate."""
    glibc: bool = True
    loop: _LoopReply | None = None
    moved: list[str] = msgspec.field(default_factory=list)
    """Settings by which the program has moved a cache away from where it was given one."""
    settings: Found | None = Found()
    """``None``: they could not be read."""

    def spans(self, spawned_ns: int) -> list[Phase]:
        """Return the phases on the axis that starts at the spawn, the interpreter's first."""
        return _spans(self.entered_ns, self.phases, spawned_ns)


class BlockReply(BlockCounts, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="block"):
    """A block of warm calls."""

    start_ns: _Moment
    samples_ns: _Durations
    wall_ns: Count
    uncounted: _Stated | None = None
    """Why the compiles are unknown."""

    def block(self, order: int, spawned_ns: int, bound_to: int | None = None) -> Block:
        """Return the block, in seconds for one call."""
        counted = {name: getattr(self, name) for name in BlockCounts.__struct_fields__}
        reasons = missing(counted, NO_STATUS)
        if self.compiles is None:
            stated = self.uncounted
            reasons["compiles"] = _NOT_TOLD if stated is None else _as_reason(stated)
        if bound_to is None:
            reasons["bound_to"] = because("not_bound")
        return Block(
            **counted,
            order=order,
            start_s=(self.start_ns - spawned_ns) / 1e9,
            samples_s=[sample / self.batch / 1e9 for sample in self.samples_ns],
            wall_s=self.wall_ns / 1e9,
            bound_to=bound_to,
            null_reasons=reasons,
        )


class _Ended(ProcessTotals, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Last words of every process that runs a candidate."""

    counters: dict[str, Counters]
    device: Device

    def totals(self) -> ProcessTotals:
        """Return what the process has used in all, without what else it said."""
        names = ProcessTotals.__struct_fields__
        return ProcessTotals(**{name: getattr(self, name) for name in names})


class _Checked(Record, frozen=True, kw_only=True):
    """The first output against the reference, and the hash of the inputs."""

    gate: _GateReply | None
    input_sha256: Sha256


class OtherCallsReply(OtherCallSeconds, frozen=True, kw_only=True, tag="other_calls"):
    """Calls in other circumstances than those of the timed loop."""

    varied: list[str]
    not_varied: dict[str, Reason]
    answer_changed: bool | None
    gate: _GateReply | None = None
    folded: list[str] = msgspec.field(default_factory=list)
    unlike: Reason | None = None
    unchecked: Reason | None = None
    reasons: dict[str, _Stated] = msgspec.field(default_factory=dict)

    def calls(self) -> OtherCalls:
        """Return what calls took in other circumstances than those of the timed loop."""
        seconds = {name: getattr(self, name) for name in OtherCallSeconds.__struct_fields__}
        reasons = missing(seconds, NO_STATUS)
        stated = {name: _as_reason(self.reasons[name]) for name in reasons if name in self.reasons}
        if self.unchecked is not None:
            stated["answers_checked"] = self.unchecked
        return OtherCalls(
            **seconds,
            varied=self.varied,
            not_varied=self.not_varied,
            answer_changed=self.answer_changed,
            answers_checked=None if self.unchecked is not None else self.unlike is None,
            unlike=self.unlike,
            folded=self.folded,
            null_reasons={**reasons, **stated},
        )


class _Turns(Record, frozen=True, kw_only=True):
    """Calls in turns until both sides were made anew."""

    own_ns: list[_Moment]
    other_ns: list[_Moment]
    batches: tuple[Count, Count]
    compiles: Count | None
    forked: bool


class SharedReply(Record, frozen=True, kw_only=True, tag="shared_calls"):
    """Calls in turns with another candidate in the process."""

    other: str
    turns: list[_Turns]
    reason: _Stated | None = None

    def calls(self) -> list[SharedCalls]:
        """Return the turns, in seconds for one call."""
        if self.reason is not None:
            return [_not_shared(self.other, _as_reason(self.reason))]
        if not self.turns or not all(map(_is_whole, self.turns)):
            return [_not_shared(self.other, because("garbage", text="shared_calls"))]
        return [
            SharedCalls(
                other=self.other,
                own_s=[taken / one.batches[0] / 1e9 for taken in one.own_ns],
                other_s=[taken / one.batches[1] / 1e9 for taken in one.other_ns],
                own_batch=one.batches[0],
                other_batch=one.batches[1],
                compiles=one.compiles,
                started_from_template=one.forked,
                null_reasons={"compiles": _NOT_TOLD} if one.compiles is None else {},
            )
            for one in self.turns
        ]


def _not_shared(other: str, why: Reason) -> SharedCalls:
    return SharedCalls(other=other, reason=why, null_reasons={"compiles": why})


def _is_whole(turns: _Turns) -> bool:
    if not turns.own_ns or len(turns.own_ns) != len(turns.other_ns):
        return False
    return min((*turns.batches, *turns.own_ns, *turns.other_ns)) > 0


class End(_Ended, frozen=True, kw_only=True, tag="end"):
    """The last word of a process that was measured."""

    gate: _GateReply | None
    first: _Checked | None = None
    """First check of a process with blocks, which are measured before anything is checked."""
    harness: HarnessFigures | None
    counts: Counts = Counts()
    analysis: dict[str, float | int | None]
    more: bool = False
    """Whether ``OtherCallsReply`` come."""


class Reference(Record, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="reference"):
    """The reference answer is written."""

    input_sha256: Sha256


class MadeReply(_Ended, frozen=True, kw_only=True, tag="made"):
    """Reply that what is made ahead of time is written."""

    entered_ns: _Moment
    phases: list[_PhaseReply]
    parts: _Parts
    input_sha256: Sha256
    versions: dict[str, str]

    def spans(self, spawned_ns: int) -> list[Phase]:
        """Return the phases on the axis that starts at the spawn, the interpreter's first."""
        return _spans(self.entered_ns, self.phases, spawned_ns)


class Inspection(Record, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="inspect"):
    """Results of calling a user's function twice."""

    kind: Literal["function", "factory", "own"]
    file: str | None
    placement: str | None
    arguments: list[str]
    outputs: list[str]
    input_sha256: Sha256
    mutates: bool
    repeats: bool
    own_cache: str | None
    """The cache that its module has set by itself; ``None``: none."""
    further: Count
    device: Literal["cpu", "gpu"]
    counters: dict[str, Counters]
    positional: list[str] = msgspec.field(default_factory=list)
    """Inputs that go by position, in order; the others go by name."""
    first_s: Seconds | None = None
    """Time of its first call, and of making it, where a factory does."""
    start_s: Seconds | None = None
    """Time from the start of the process to its first result."""
    uncompared: list[str] = msgspec.field(default_factory=list)
    """Places in the output that can be compared by nothing, each with its class."""
    doubt: Reason | None = None
    """Why it is not known whether its result is there; ``None``: nothing speaks against it."""
    precision: str = ""
    """The type whose precision its numbers have; empty: it has none with a point."""
    compiled_again: Count | None = None
    """Programs that a second call with the same arguments compiled."""
    in_threads: bool = False
    """Whether other threads computed beside its main thread in a second call."""
    in_module: bool = False
    """Whether its module had it as soon as it was loaded, and did not make it when asked."""
    before: list[str] = msgspec.field(default_factory=list)
    """Files that it read, that were there before it, and that are no part of an installation."""
    wrote: list[str] = msgspec.field(default_factory=list)
    """Files that it wrote and has left; at last those that can be missing for a process."""
    again: list[str] = msgspec.field(default_factory=list)
    """Files among those there before that it makes by itself; other processes find it out."""
    strays: list[str]
    """Modules of the user's checkout that were imported where a commit's are wanted."""


class Moves(Record, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="moves"):
    """How far the numbers of an answer move is written beside it."""


class OthersReply(Record, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="others"):
    """The answers to other data are written beside an answer."""


class Marked(Record, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="marked"):
    """The functions of a user's file that are marked."""

    file: str | None
    marked: list[dict[str, Any]]


class _Raised(Record, frozen=True, kw_only=True):
    """The error of a function whose facts were asked for."""

    error: str
    text: str


class Facts(Record, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="facts"):
    """Facts that a function has returned, or its error, that was called once."""

    facts: dict[str, bool | int | float | str | None]
    raised: _Raised | None
    call_s: Seconds
    programs: Count | None
    versions: dict[str, str]


class _Failed(Record, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="failed"):
    """The process cannot go on."""

    reason: _Stated
    detail: str
    line: Count | None = None
    """Line of the user's file where it failed."""
    settings: Found | None = None
    missed: list[str] = msgspec.field(default_factory=list)
    """Files that it wanted to read and that were not there, the last ones in order."""

    @property
    def why(self) -> Reason:
        """The reason as data; the one place that reads the words of a worker."""
        if self.reason == "gpu_unavailable":
            return because("gpu_unavailable")
        return _as_reason(self.reason)


_R = TypeVar("_R", bound=Record)


def receive(process: MeasuredProcess, due: type[_R]) -> _R:
    """Wait for the next message of a process, which must be the one that is due.

    Raises:
        ProcessFailedError: it failed, or said something else. It is dead by then.
        OutOfTimeError: the time of the whole run is over. It is dead by then, too.
    """
    try:
        reply = _read(process.receive(), due, process.spawned_ns)
    except _MalformedReplyError as error:
        process.kill()
        raise ProcessFailedError(error.reason, process.output_tail) from error
    if isinstance(reply, _Failed):
        process.kill()
        detail = "\n".join(filter(None, [process.output_tail.rstrip(), reply.detail]))
        failed = ProcessFailedError(reply.why, detail, reply.line)
        found = reply.settings or Found()
        failed.missed = reply.missed
        failed.settings = {**found.variables, **found.configured}
        raise failed
    return reply


def _read(line: bytes, due: type[_R], spawned_ns: int) -> _R | _Failed:
    """Return the reply in a line: the one that is due, or ``_Failed``.

    Raises:
        _MalformedReplyError: it is no message, another one, or one without its shape.
    """
    try:
        message = wire.decode(line)
        msgspec.json.encode(message)  # half a surrogate pair could not be written down
    except (ValueError, OverflowError) as error:
        raise _MalformedReplyError(because("garbage", text=f"{line[:60]!r}")) from error
    name, kind = str(due.__struct_config__.tag), message.get("type")
    if kind not in [name, "failed"]:  # a list: it may be unhashable
        text = f"expected a {name!r} message, got {str(kind)[:40]!r}"
        raise _MalformedReplyError(because("garbage", text=text))
    shape: type[_R | _Failed] = _Failed if kind == "failed" else due
    # A record may be without what it takes over from a process, a reply may not.
    counted = [name for name in shape.__struct_encode_fields__ if name not in shape.__annotations__]
    missing = [name for name in counted if name not in message]
    try:
        reply = msgspec.convert(message, shape)
    except msgspec.ValidationError as error:
        raise _malformed(str(kind), str(error)) from error
    if missing:
        raise _malformed(name, f"Object missing required field `{missing[0]}`")
    wrong = _wrong(reply, spawned_ns)
    if wrong is not None:
        raise _malformed(name, wrong)
    return reply


def _malformed(message: str, text: str) -> _MalformedReplyError:
    return _MalformedReplyError(because("malformed", message=message, text=text))


def _wrong(reply: object, spawned_ns: int) -> str | None:
    """Say what is wrong with the order of a reply's moments, ``None``: nothing."""
    if isinstance(reply, BlockReply) and reply.start_ns < spawned_ns:
        return "it began before the process did"
    if not isinstance(reply, Start | MadeReply):
        return None
    names = [span.name for span in reply.phases]
    if isinstance(reply, MadeReply):
        due, loaded = _MAKING, []
    else:
        due, loaded = _PHASES if reply.loop is None else _LOOP_PHASES, [reply.loaded_ns]
        due = _BUILDING if "build" in names else due
        further = [n for n in names[len(due) :] if not n.startswith("new_shape_")]
        names = names[: len(due)] + further
    if names != due:
        return f"expected the phases {', '.join(due)}"
    stamps = [stamp for span in reply.phases for stamp in (span.begin_ns, span.end_ns)]
    stamps = [spawned_ns, reply.entered_ns, *loaded, *stamps]
    return None if stamps == sorted(stamps) else "its phases are not one after the other"
