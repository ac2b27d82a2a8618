"""The shape of what a measured process may say; anything else is a failure of its own.

A candidate shares the process with the worker, so whatever comes up the pipe may have
been written by either. A reply that does not have its shape is distinguished from one that has
before anything is computed from it. What a process counts of itself has the fields of the
record that it becomes a part of.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

import msgspec

from coldwarm import wire
from coldwarm.contracts.base import Count, Record, Seconds, Sha256
from coldwarm.contracts.observation import (
    PHASES,
    BlockCounts,
    CacheCounts,
    CallParts,
    Counts,
    Device,
    GateFigures,
    HarnessFigures,
    OtherCallSeconds,
    PhaseCounts,
    ProcessTotals,
)
from coldwarm.contracts.reasons import Reason, because
from coldwarm.runner.spawn import MeasuredProcess, ProcessFailedError

_PHASES = [*PHASES[1:]]
_LOOP_PHASES = [*_PHASES[:-1], "remaining_calls", _PHASES[-1]]
_BUILDING = [*_PHASES[:3], "build", *_PHASES[3:]]
_MAKING = ["import", "device_init", "setup", "wrap", "make"]
_Moment = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
_Durations = Annotated[list[_Moment], msgspec.Meta(min_length=1)]
_Stated = str | Reason
"""A reason as a process gives it: a code with its values, or words of its own."""


class _MalformedReplyError(Exception):
    """A line that is no reply, or not the one that was due."""

    def __init__(self, reason: Reason) -> None:
        """Keep the reason."""
        super().__init__(str(reason))
        self.reason = reason


def as_reason(stated: _Stated) -> Reason:
    """Return a reason of the measured side; words of its own are kept as they are."""
    return stated if isinstance(stated, Reason) else because("stated", text=stated)


class PhaseReply(PhaseCounts, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """A phase, on the clock of the process."""

    begin_ns: _Moment
    end_ns: _Moment


class GateReply(GateFigures, frozen=True, kw_only=True):
    """An output against the reference."""

    reason: _Stated | None


class Counters(CacheCounts, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """What the owner of a cache has counted."""

    raw: dict[str, float | int | str | None] = msgspec.field(default_factory=dict)
    reasons: dict[str, _Stated] = msgspec.field(default_factory=dict)


class Parts(CallParts, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """The parts of a call, and why some are missing."""

    reasons: dict[str, _Stated] = msgspec.field(default_factory=dict)


class LoopReply(Record, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """The loop of a scenario; ``parts`` are of all steps but the first."""

    steps_ns: _Durations
    compiles: list[Count] | None
    parts: Parts


class Found(Record, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Settings that are not as the frameworks come; see ``coldwarm.frameworks.settings``."""

    loaded: list[str] = msgspec.field(default_factory=list)
    variables: dict[str, str] = msgspec.field(default_factory=dict)
    configured: dict[str, str] = msgspec.field(default_factory=dict)


class Start(Record, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="start"):
    """After the second call; of a process without blocks also after the gate."""

    entered_ns: _Moment
    phases: list[PhaseReply]
    parts: Parts
    counters: dict[str, Counters]
    device: Device
    versions: dict[str, str]
    loaded_ns: _Moment
    bytecode: dict[str, Count]
    read_bytes: Count | None
    gate: GateReply | None
    input_sha256: Sha256 | None
    """``None``: its end has it, and the gate."""
    glibc: bool = True
    loop: LoopReply | None = None
    moved: list[str] = msgspec.field(default_factory=list)
    """Settings by which the program has moved a cache away from where it was given one."""
    settings: Found | None = Found()
    """``None``: they could not be read."""


class BlockReply(BlockCounts, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="block"):
    """A block of warm calls."""

    start_ns: _Moment
    samples_ns: _Durations
    wall_ns: Count
    uncounted: _Stated | None = None
    """Why the compiles are unknown."""


class _Ended(ProcessTotals, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """What every process says last that runs a candidate."""

    counters: dict[str, Counters]
    device: Device


class _Checked(Record, frozen=True, kw_only=True):
    """The first output against the reference, and the hash of the inputs."""

    gate: GateReply | None
    input_sha256: Sha256


class OtherCallsReply(OtherCallSeconds, frozen=True, kw_only=True, tag="other_calls"):
    """Calls in other circumstances than those of the timed loop."""

    varied: list[str]
    not_varied: dict[str, Reason]
    answer_changed: bool | None
    gate: GateReply | None = None
    folded: list[str] = msgspec.field(default_factory=list)
    unlike: Reason | None = None
    unchecked: Reason | None = None
    reasons: dict[str, _Stated] = msgspec.field(default_factory=dict)


class End(_Ended, frozen=True, kw_only=True, tag="end"):
    """The last word of a process that was measured."""

    gate: GateReply | None
    first: _Checked | None = None
    """Of a process with blocks, which are measured before anything is checked."""
    harness: HarnessFigures | None
    counts: Counts = Counts()
    analysis: dict[str, float | int | None]
    more: bool = False
    """Whether ``OtherCallsReply`` come."""


class Reference(Record, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="reference"):
    """The reference answer is written."""

    input_sha256: Sha256


class MadeReply(_Ended, frozen=True, kw_only=True, tag="made"):
    """What is made ahead of time is written."""

    entered_ns: _Moment
    phases: list[PhaseReply]
    parts: Parts
    input_sha256: Sha256
    versions: dict[str, str]


class Inspection(Record, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="inspect"):
    """What calling a user's function twice has shown."""

    kind: Literal["function", "factory"]
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
    """What its first call took, and making it, where a factory does."""
    uncompared: list[str] = msgspec.field(default_factory=list)
    """Places in the output that can be compared by nothing, each with its class."""
    doubt: Reason | None = None
    """Why it is not known whether its result is there; ``None``: nothing speaks against it."""
    precision: str = ""
    """The type whose precision its numbers have; empty: it has none with a point."""
    compiled_again: Count | None = None
    """Programs that a second call with the same arguments compiled."""
    before: list[str] = msgspec.field(default_factory=list)
    """Files that it read, that were there before it, and that are no part of an installation."""
    wrote: list[str] = msgspec.field(default_factory=list)
    """Files that it wrote and has left; at last those that can be missing for a process."""
    again: list[str] = msgspec.field(default_factory=list)
    """Of those that were there before, what it makes by itself; other processes find it out."""
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
    """What a function has returned, or raised, that was called once."""

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
    """Of the user's file, where it failed."""
    settings: Found | None = None
    missed: list[str] = msgspec.field(default_factory=list)
    """Files that it wanted to read and that were not there, the last ones in order."""

    @property
    def why(self) -> Reason:
        """The reason as data; the one place that reads the words of a worker."""
        if self.reason == "gpu_unavailable":
            return because("gpu_unavailable")
        return as_reason(self.reason)


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
