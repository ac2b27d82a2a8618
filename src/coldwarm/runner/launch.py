"""The lives of a run's processes: measured ones, and those that make references and artifacts.

A process that is measured ends as an observation: times on the runner's clock, and whether the
evidence proves its cache mode.

What a backend ``prepares`` ahead of time is made once for a case, under the run's own working
directory; a run that goes on makes it again. Each measured process gets a copy beside its caches,
so that none can change what the next one loads, and so that the listings of caches prove it was
there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict, replace

from coldwarm.caches import HOME, MOST_NAMED, listing, made, modes, names_of_earlier
from coldwarm.contracts.base import EMPTY, WARM
from coldwarm.contracts.observation import (
    Block,
    CacheEvidence,
    Counts,
    Device,
    Gate,
    HarnessCost,
    HarnessFigures,
    Judgement,
    Observation,
    OtherCalls,
    ProcessTotals,
    SharedCalls,
    Telemetry,
    first_result_s,
)
from coldwarm.contracts.reasons import Reason, because, is_wrong, missing, together
from coldwarm.contracts.result import Artifact, Making
from coldwarm.errors import storage_error
from coldwarm.runner import isolation, machine_settings, replies, telemetry, temporary
from coldwarm.runner.guard import MARK
from coldwarm.runner.isolation import owners_of, process_variables, program_name
from coldwarm.runner.spawn import MeasuredProcess, OutOfTimeError, ProcessFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from coldwarm.caches.listing import Listing
    from coldwarm.clock import Clock
    from coldwarm.contracts.base import Allocator, CacheMode, CacheSettings
    from coldwarm.contracts.observation import Phase
    from coldwarm.runner.case_list import Case, Options
    from coldwarm.runner.spawn import Guard


_MADE = made.OWNER.name
_EMPTY = {EMPTY, "first_ever"}


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

    def start(self, slot: Slot) -> Running:
        """Start a process and wait for its first results.

        Raises:
            ProcessFailedError: it gave none.
        """
        return self.begin(slot).first_results()

    def begin(self, slot: Slot) -> Begun:
        """Start a process.

        Raises:
            StorageError: its caches could not be laid.
        """
        case = slot.case
        base = {**os.environ, **case.variables}
        try:
            found, again = self._variables(slot), slot.mode not in _EMPTY
            seen = isolation.make_view(slot.root, slot.missing, self._ours(), again=again)
            copies = _lay_artifacts(self.work, case, slot.root)
            before = _listings(slot, owners_of(case.backend, case.device, slot.mode))
        except OSError as error:
            raise storage_error(slot.root, error) from error
        if slot.mode == "first_ever":
            listing.drop_pages([*listing.runtime_files(), *copies])
        order = self.next_order(f"{case.id} {slot.mode} round {slot.round}")
        started_at = self.clock.date()
        reading = telemetry.read(self.clock.now_s())
        process = self._spawn(case, self._job(slot), found, seen)
        user_settings = machine_settings.of_user(base, found)
        return Begun(self, slot, process, order, started_at, before, reading, found, user_settings)

    def make_artifacts(self, case: Case) -> Making:
        """Make what a case's measured processes load, in a process of its own.

        Raises:
            ProcessFailedError: nothing was made; the reason says at which step.
        """
        root, folder = self.work / "caches" / f"{case.id}-make", _artifact_folder(self.work, case)
        # Nothing that it is charged for was there before.
        slot = Slot(case, EMPTY, 0, 0, root)
        try:
            for path in (root, folder):
                isolation.discard(path)
                path.mkdir(parents=True)
            found = self._variables(slot)
        except OSError as error:
            raise storage_error(root, error) from error
        owners = owners_of(case.backend, case.device, EMPTY)
        before = _listings(slot, [owner for owner in owners if owner != _MADE])
        order, date = self.next_order(f"{case.id} make"), self.clock.date()
        reading = telemetry.read(self.clock.now_s())
        job = {**self._case_job(case), "role": "make", "made": str(folder)}
        process = self._spawn(case, job, found)
        try:
            reply = replies.receive(process, replies.MadeReply)
            ended = process.wait()
        except ProcessFailedError as error:
            raise _explained(error) from error
        finally:
            process.kill()
            self.measured_s += process.active_s
        after = telemetry.read(self.clock.now_s())
        made = _describe_artifacts(folder)
        if not made:
            raise _explained(ProcessFailedError(because("no_artifact"), process.output_tail))
        spans = reply.spans(process.spawned_ns)
        return Making(
            case=case.id,
            order=order,
            started_at=date,
            wall_s=ended.wall_s,
            phases=spans,
            parts=reply.parts.within(spans[-1].duration_s),
            artifacts=made,
            evidence=_evidence(before, _listings(slot, before), reply.counters),
            input_sha256=reply.input_sha256,
            device=_device(reply.device),
            versions=reply.versions,
            telemetry=telemetry.between(reading, after, ended.cpu_s, reply.totals()),
        )

    def compute_reference(self, case: Case) -> None:
        """Write the answer of a case's group.

        Where the case brings an answer, nothing is computed. Its path is put into ``references``,
        the hash of its inputs into ``inputs``.

        Raises:
            ProcessFailedError: there is no answer.
            OutOfTimeError: the time of the whole run is over.
        """
        if case.answer is not None:
            self.references[case.group] = case.answer.path
            self.inputs[case.group] = case.answer.inputs_sha256
            return
        path = str(self.work / f"{case.group}.npz")
        self.references[case.group] = path
        job = {"role": "reference", **self._workload_job(case), "reference": path}
        variables = {**os.environ, MARK: self.guard.mark_value}
        process = MeasuredProcess(job, variables, self.guard, timeout_s=self.options.timeout_s)
        try:
            reply = replies.receive(process, replies.Reference)
            process.wait()
        except OutOfTimeError:
            text = f"the reference of {case.group}"
            raise OutOfTimeError(text) from None
        except ProcessFailedError as error:
            reason = because("reference_failed", error.reason)
            raise ProcessFailedError(reason, error.detail) from error
        finally:
            process.kill()
        self.inputs[case.group] = reply.input_sha256

    def _job(self, slot: Slot) -> dict[str, Any]:
        """Return the job of a process, as it goes down the pipe."""
        case = slot.case
        prepared = case.backend.prepares
        return {
            **self._case_job(case),
            "role": "measure",
            "tolerance": case.workload.tolerances[case.dtype],
            "reference": self.references[case.group],
            "persistent": slot.persistent,
            "allocator": slot.allocator,
            "cache_settings": slot.cache_settings,
            "analyse": slot.analyse,
            "other_calls": slot.other_calls,
            "shared": [self._shared_job(other, slot) for other in slot.shared],
            "list_modules": False,
            # Such calls show their cost at the end of a cold process, and disturb none after them.
            "new_shapes": case.new_shapes and not slot.persistent and slot.mode in _EMPTY,
            "made": str(slot.root / _MADE) if prepared else None,
            "watch": self._watched(slot) if slot.mode in _EMPTY else None,
        }

    def _shared_job(self, case: Case, slot: Slot) -> dict[str, Any]:
        """Return what a process needs to call the function of another candidate.

        Forks of a template come from the second round on, and where no start is shown.
        """
        return {
            "case": case.id,
            "again": self.options.time_budget_s is None or slot.round >= _FOR_A_VERDICT,
            "forks": slot.mode == WARM and slot.round > 0,
            "until_s": self.guard.ends_s,
            "function": case.job["function"],
            "seed": self.options.seed,
            "reference": self.references[case.group],
            "tolerance": case.workload.tolerances[case.dtype],
        }

    def _watched(self, slot: Slot) -> dict[str, Any]:
        """Return what a process is to tell of files that it opens; see ``frameworks.opened``."""
        since_ns = self.since_ns if slot.case.since_ns is None else slot.case.since_ns
        return {
            "since_ns": since_ns,
            "program": slot.case.program,
            "before_ns": time.time_ns(),
            "folders": self._ours(),
            "known": sorted(slot.hidden),
            "wrote": sorted(slot.case.wrote),
            "most": MOST_NAMED,
        }

    def _ours(self) -> list[str]:
        """Return the folders in which the run has its own files."""
        return [os.path.realpath(self.work), *temporary.own()]

    def _case_job(self, case: Case) -> dict[str, Any]:
        """Return the part of a job that says which backend and which workload."""
        return {
            "backend": case.backend.named(),
            "device": case.device,
            "threads": self.options.threads,
            **self._workload_job(case),
            **case.job,
        }

    def _workload_job(self, case: Case) -> dict[str, Any]:
        """Return the part of a job that says which workload on which inputs."""
        return {
            "workload": case.workload.source.named(),
            "size": case.size,
            "dtype": case.dtype,
            "numpy_dtype": case.numpy_dtype,
            "seed": self.options.seed,
        }

    def _variables(self, slot: Slot) -> dict[str, str]:
        """Return the environment of a process; makes the folders of its caches."""
        case = slot.case
        found = process_variables(
            {**os.environ, **case.variables},
            case.backend,
            device=case.device,
            threads=self.options.threads,
            mode=slot.mode,
            root=slot.root,
            mark=self.guard.mark_value,
            deterministic=self.options.deterministic,
            cache_settings=slot.cache_settings,
            hidden=slot.missing,
        )
        return {**found, "PATH": self.gpu_search_path} if case.device == "gpu" else found

    def _spawn(
        self,
        case: Case,
        job_: Mapping[str, Any],
        variables_: Mapping[str, str],
        view: isolation.Overlay | None = None,
    ) -> MeasuredProcess:
        """Start the process of a job."""
        options = self.options
        with isolation.forking(view):
            return MeasuredProcess(
                job_,
                variables_,
                self.guard,
                timeout_s=options.timeout_s,
                python=program_name(case.python, case.backend),
                affinity=options.affinity if options.threads else None,
                enter=None if view is None else view.enter,
            )


_FOR_A_VERDICT = 3
"""Rounds that a verdict needs, of two processes each that call both sides. Within a time budget
these make both sides once, so that there is time for as many."""


@dataclass(frozen=True)
class Slot:
    """Identity of a process: of which case, in which mode, round and attempt."""

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
    shared: tuple[Case, ...] = ()
    """Other candidates whose functions it calls in turns with its own, after its last word."""
    allocator: Allocator = "as_it_is"
    cache_settings: CacheSettings = "keep_all"
    hidden: frozenset[str] = frozenset()
    """Files that its program makes by itself where they are missing, as they are for it."""

    @property
    def missing(self) -> Collection[str]:
        """Files that are not there for the process: none where one before it has made them."""
        return self.hidden if self.mode in _EMPTY else ()

    def failed(
        self, error: ProcessFailedError, date: str, order: int, wall_s: float
    ) -> Observation:
        """Return the observation of a process that gave no result."""
        reason = reason_against(self.case, error.settings) or error.reason
        return Observation(
            **_common(self, order, date, wall_s),
            status="failed",
            reason=reason,
            stderr_tail=error.detail or None,
            null_reasons=dict.fromkeys(("ttfr_s", "ttfr_process_s"), reason),
        )


@dataclass
class Begun:
    """A process that was started."""

    place: RunContext
    slot: Slot
    process: MeasuredProcess
    order: int
    started_at: str
    before: dict[str, Listing]
    """The caches before it."""
    start_telemetry: telemetry.Reading
    variables: Mapping[str, str]
    """Variables of its environment."""
    user_settings: Mapping[str, str]
    """Part of it that is a setting of the user's that may change what is measured."""
    turns: int = field(default=0, kw_only=True)
    """Turns that it has taken with others."""
    waits: int = field(default=0, kw_only=True)
    """Turns in which it did nothing for most of the time."""

    def take_turn(self, processor: int, seconds: float) -> bool:
        """Let the process, which is held, run for a while; say whether it has answered, or ended.

        Its main thread wakes on a processor, where the kernel leaves it, and may run on all of its
        own as soon as it is awake: programs ask how many these are, and make as many threads.
        """
        process, used_ns = self.process, self.process.cpu_ns()
        self.turns += 1
        own: set[int] = set()
        with suppress(OSError):  # one that is gone is found out by what is asked of it next
            own = os.sched_getaffinity(process.pid)
            os.sched_setaffinity(process.pid, own & {processor} or own)
        process.go_on()
        with suppress(OSError):
            os.sched_setaffinity(process.pid, own)
        answered = process.answers_within(seconds)
        if process.cpu_ns() - used_ns < 1e9 * seconds / 2 and not process.computes():
            self.waits += not answered
        process.hold_at_once()
        return answered or process.too_late()

    def first_results(self, *, together: bool = False) -> Running:
        """Wait for the first results; ``together``: other processes started meanwhile.

        Raises:
            ProcessFailedError: it gave none.
        """
        place, slot, process = self.place, self.slot, self.process
        if together:
            process.count_from_now()
        try:
            reply = replies.receive(process, replies.Start)
        except BaseException as error:
            self.cancel()
            if isinstance(error, ProcessFailedError):
                error.wall_s, error.order = process.wait().wall_s, self.order
            raise
        # Whose processor time it was, nobody can say where others started at the same time.
        cpu_s = None if together else process.cpu_so_far()
        after = telemetry.read(place.clock.now_s())
        running = Running(
            **vars(self),
            start=reply,
            start_after=after,
            start_cpu_s=cpu_s,
            together=together,
            input_sha256=place.inputs.get(slot.case.group) if slot.case.shares_inputs else None,
        )
        if slot.persistent:
            running.after = _listings(slot, running.before)
        return running

    def cancel(self) -> None:
        """End a process whose first results are not wanted any more."""
        if self.process.exit is None:
            self.process.kill()
        self.place.measured_s += self.process.active_s


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
    shared_calls: list[SharedCalls] = field(default_factory=list)
    wall_s: float | None = None
    """From its spawn to its exit."""
    counted: bool = False
    """Whether the time of its process is in ``RunContext.measured_s``."""
    asked_to_end: bool = False
    blocks: list[Block] = field(default_factory=list)
    readings: list[telemetry.BlockReading] = field(default_factory=list)

    def bind(self, processors: Sequence[int]) -> None:
        """Let the main thread run on these processors only."""
        # A process that is gone is found out by what is asked of it next.
        with suppress(OSError):
            os.sched_setaffinity(self.process.pid, processors)

    def block(self, batch: int, seconds: float, limit: int, bound_to: int | None = None) -> Block:
        """Run one block of warm calls in this process, which is held before and after.

        Raises:
            ProcessFailedError: it died or hung in it.
        """
        place, process = self.place, self.process
        order = place.next_order(f"{self.slot.case.id} block")
        cpu_s, before = process.cpu_so_far(), telemetry.read(place.clock.now_s())
        process.go_on()
        process.send({"op": "block", "batch": batch, "seconds": seconds, "limit": limit})
        reply = replies.receive(process, replies.BlockReply)
        process.hold()
        after, cpu_after_s = telemetry.read(place.clock.now_s()), process.cpu_so_far()
        used_s = None if cpu_s is None or cpu_after_s is None else cpu_after_s - cpu_s
        self.readings.append(telemetry.BlockReading(before, after, used_s))
        self.blocks.append(reply.block(order, process.spawned_ns, bound_to))
        return self.blocks[-1]

    def ask_to_end(self, n_later: int = 0) -> None:
        """Let a held process come to its end, before it is waited for.

        ``n_later``: processes of its round that end after it, to which it leaves a part of the
        time.
        """
        self.process.go_on()
        self.process.send({"op": "quit", "n_later": n_later})
        self.asked_to_end = True

    def finish(self, n_later: int = 0) -> None:
        """End the process and hear its last word, before as many others of its round.

        Raises:
            ProcessFailedError: it failed on the way out.
        """
        process, slot = self.process, self.slot
        try:
            if self.asked_to_end:
                process.count_from_now()
            elif slot.persistent:
                self.ask_to_end(n_later)
            self.end = self._last_word()
            if self.end.more:
                if not slot.persistent:
                    self.after = _listings(slot, self.before)
                    process.send({"op": "others"})
                self.other_calls = _other_calls(process)
            elif slot.persistent and "function" in slot.case.job:
                self.other_calls = because("shown_by_others")
            if not (self.end.more and isinstance(self.other_calls, Reason)):  # else it is lost
                self.shared_calls = _shared_calls(process, slot.shared)
        except BaseException:
            process.kill()
            raise
        finally:
            self.wall_s = process.wait().wall_s
            self._count()
        if not slot.persistent and not self.end.more:
            self.after = _listings(slot, self.before)

    def _last_word(self) -> replies.End:
        """Return its end; it or the start says what the first output was held against.

        Raises:
            ProcessFailedError: neither does, or there is no end.
        """
        end = replies.receive(self.process, replies.End)
        if self.start.input_sha256 is None and end.first is None:
            text = "it has no check of the first output"
            reason = because("malformed", message="end", text=text)
            raise ProcessFailedError(reason, self.process.output_tail)
        return end

    def abandon(self) -> None:
        """End a process whose result is not wanted any more, whatever it does."""
        if self.process.exit is None:
            self.process.kill()
        self._count()

    def _count(self) -> None:
        """Add the time of a process that has ended, once."""
        if not self.counted:
            self.place.measured_s += self.process.active_s
        self.counted = True

    def observation(self) -> Observation:
        """Return what the process saw, so far or in all."""
        slot, start, end = self.slot, self.start, self.end
        alive_s = self.start_after.now_s - self.start_telemetry.now_s
        wall_s = alive_s if self.wall_s is None else self.wall_s
        common = _common(slot, self.order, self.started_at, wall_s)
        # What was held against the reference first stands in its end where it has blocks.
        checked = start if end is None or end.first is None else end.first
        input_sha256 = checked.input_sha256
        if input_sha256 is not None and self.input_sha256 not in {None, input_sha256}:
            return Observation(**common, status="failed", reason=because("other_inputs"))
        told = self.other_calls
        further = told.gate if isinstance(told, replies.OtherCallsReply) else None
        gate: Gate | None = None
        if checked.gate is not None:
            gate = checked.gate.together(end.gate if end else None, further)
        if gate is not None and not gate.passed:
            reason = _of_answer(gate.reason)
            return Observation(**common, status="failed", reason=reason, gate=gate)
        in_force = self._settings()
        against = reason_against(slot.case, in_force)
        if against is not None:
            return Observation(**common, status="failed", reason=against, settings=in_force)
        spans = start.spans(self.process.spawned_ns)
        if self.turns:
            spans = [_without(self.process.held_s, span) for span in spans]
        by_name = {span.name: span for span in spans}
        ttfr_s, ttfr_process_s = first_result_s(by_name)
        bytecode = {**start.bytecode, "storage_read_bytes": start.read_bytes}
        on_request = slot.case.backend.keeps_on_request
        found = [
            replace(one, kept_by_default=modes.kept_by_default(one, on_request=on_request))
            for one in _evidence(self.before, self.after, start.counters, {"bytecode": bytecode})
        ]
        others: OtherCalls | None = None
        reasons = {"other_calls": told} if isinstance(told, Reason) else {}
        if isinstance(told, replies.OtherCallsReply):
            others = told.calls()
        if not start.glibc:
            reasons |= _NO_GLIBC
        judgements = self._judgements(found)
        contradicted = _contradicted(slot.mode, judgements)
        return Observation(
            **{**common, "allocator": slot.allocator if start.glibc else None},
            also_modes=[mode for mode in judgements if mode != slot.mode],
            status="rejected" if contradicted else "ok",
            reason=contradicted,
            phases=spans,
            ttfr_s=ttfr_s,
            ttfr_process_s=ttfr_process_s,
            # What is added up inside the process has what it was held in it.
            first_call_parts=None
            if self.turns
            else start.parts.within(by_name["first_call"].duration_s),
            loop=None if start.loop is None else start.loop.account(start.parts, by_name),
            blocks=self.blocks,
            other_calls=others,
            shared_calls=self.shared_calls,
            evidence=found,
            judgements={str(mode): judgement for mode, judgement in judgements.items()},
            gate=gate,
            input_sha256=input_sha256,
            bytecode=start.bytecode,
            device=_device(end.device if end else start.device),
            compiled=end.analysis if end else {},
            counts=end.counts if end else Counts(),
            versions=start.versions,
            settings=in_force,
            harness=_harness(start, end.harness if end else None),
            telemetry=self._telemetry(),
            null_reasons=reasons,
        )

    def _settings(self) -> dict[str, str]:
        """Return what was set and may change what is measured: by the user, a file or a module."""
        case, found = self.slot.case, self.start.settings or replies.Found()
        known = machine_settings.known(found.variables)
        changed = {name: v for name, v in known.items() if self.variables.get(name) != v}
        configured = dict(found.configured)
        if case.described is None and case.dtype == "f64":
            configured.pop("jax_enable_x64", None)  # its backend has set it
        frameworks = machine_settings.frameworks_of(case.backend) or set(found.loaded)
        every = {**self.user_settings, **changed, **configured}
        return machine_settings.relevant(every, frameworks, gpu=case.device == "gpu")

    def _judgements(self, found: Sequence[CacheEvidence]) -> dict[CacheMode, Judgement]:
        """Judge the mode of a start, and the warm regime of its blocks."""
        slot = self.slot
        compiles, settings = slot.case.backend.compiles, slot.cache_settings
        started = modes.judge(slot.mode, found, compiles=compiles, cache_settings=settings)
        judgements = {slot.mode: started, **modes.judge_other(slot.mode, found, settings)}
        moved = self.start.moved
        if moved and slot.mode != WARM:
            reason = because("caches_moved", setting_names=moved)
            judgements[slot.mode] = Judgement(proved=False, reason=reason)
        if slot.persistent and self.blocks:
            judgements[WARM] = modes.judge_blocks(self.blocks)
        return judgements

    def _telemetry(self) -> Telemetry:
        """Return the machine's doings during the start, and what others did during the blocks.

        A persistent process goes on for long after its start: its switches in all say
        nothing about how often it was interrupted in it.
        """
        counted = [span.involuntary_switches for span in self.start.phases]
        known = [number for number in counted if number is not None]
        totals = self.end.totals() if self.end else ProcessTotals()
        totals = replace(
            totals, involuntary_switches=sum(known) if len(known) == len(counted) else None
        )
        measured = telemetry.between(
            self.start_telemetry, self.start_after, self.start_cpu_s, totals
        )
        seen = telemetry.during_blocks(self.readings)
        warm = {"warm_foreign_cpu": seen.foreign_cpu, "warm_throttled_s": seen.throttled_s}
        why_not = {
            "warm_foreign_cpu": replies.NO_STATUS,
            "warm_throttled_s": because("group_unseen"),
        }
        reasons = {k: why for k, why in measured.null_reasons.items() if warm.get(k) is None}
        if self.readings:
            reasons |= {name: why_not[name] for name, value in warm.items() if value is None}
        if self.together:
            reasons["foreign_cpu"] = because("started_together")
        flags = [*measured.flags, *seen.flags]
        return replace(measured, **warm, flags=flags, null_reasons=reasons)


def _without(held_s: Callable[[float], float], span: Phase) -> Phase:
    """Return a phase without the seconds in which its process was held before and in it."""
    end_s = span.start_s + span.duration_s
    start_s = span.start_s - held_s(span.start_s)
    return replace(span, start_s=start_s, duration_s=end_s - held_s(end_s) - start_s)


_NO_GLIBC = {"allocator": because("no_glibc")}
_OF_OTHER_DATA = {"ignores_arguments", "wrong_for_others"}
"""Codes of checks that are told wherever it is told that an answer is wrong."""


def _evidence(
    before: Mapping[str, Listing],
    after: Mapping[str, Listing],
    counters: Mapping[str, replies.Counters],
    raw: Mapping[str, Mapping[str, int | None]] | None = None,
) -> list[CacheEvidence]:
    """Return what is known of every cache that a process may use; ``raw``: by nobody's counters."""
    return [
        counters.get(owner, replies.Counters()).evidence(
            owner, old, after[owner], (raw or {}).get(owner)
        )
        for owner, old in before.items()
    ]


def files_of_earlier(observation: Observation) -> frozenset[str]:
    """Return the files of an earlier process that a process read, as far as they are named."""
    found = [one for one in observation.evidence if one.owner == HOME]
    return frozenset(name for one in found for name in names_of_earlier(one))


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


def _of_answer(why: Reason | None) -> Reason:
    """Return why a process whose answer has failed its check counts for nothing."""
    if why is not None and is_wrong(why):
        return why
    return because("correctness_gate", *([why] if why and why.code in _OF_OTHER_DATA else []))


def _device(reported: Device) -> Device:
    """Return the device as the process's framework names it."""
    if reported.memory_peak_bytes is not None:
        return reported
    reasons = {"memory_peak_bytes": because("not_told", by="the device")}
    return replace(reported, null_reasons=reasons)


def _harness(start: replies.Start, figures: HarnessFigures | None) -> HarnessCost:
    values = asdict(figures or HarnessFigures())
    return HarnessCost(
        **values,
        load_s=(start.loaded_ns - start.entered_ns) / 1e9,
        null_reasons=missing(
            values, because("persistent_only" if figures is None else "synchronous")
        ),
    )


def reason_against(case: Case, found: Mapping[str, str]) -> Reason | None:
    """Return why a case of the project's own cannot be measured under settings."""
    if case.described is not None:
        return None
    changing = machine_settings.changing(found, case.backend)
    if not changing:
        return None
    return because("setting_changes", backend=case.backend.name, setting_names=changing)


def _artifact_folder(work: Path, case: Case) -> Path:
    """Return where a run's working directory has what was made for a case."""
    return work / "made" / case.id


def _describe_artifacts(folder: Path) -> list[Artifact]:
    """Return the files in a folder with their sizes and hashes."""
    return [
        Artifact(
            name=str(path.relative_to(folder)),
            bytes=path.stat().st_size,
            sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in _artifact_files(folder)
    ]


def _lay_artifacts(work: Path, case: Case, root: Path) -> list[Path]:
    """Copy what was made for a case beside the caches of a process; return the copies.

    A copy that an earlier process of the same caches was given is replaced.
    """
    if not case.backend.prepares:
        return []
    target = root / _MADE
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(_artifact_folder(work, case), target)
    copies = _artifact_files(target)
    for path in copies:
        with path.open("rb") as file:
            os.fsync(file.fileno())  # pages that are not on the disk could not be dropped
    return copies


def _artifact_files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def _listings(slot: Slot, owners: Iterable[str]) -> dict[str, Listing]:
    # In its home, links are the user's files.
    return {owner: listing.take(slot.root / owner, links=owner != HOME) for owner in owners}


def _other_calls(process: MeasuredProcess) -> replies.OtherCallsReply | Reason:
    """Return what it shows after its last word, or why that is nothing; what it said stays."""
    try:
        return replies.receive(process, replies.OtherCallsReply)
    except ProcessFailedError as error:
        return error.reason
    except OutOfTimeError:
        return because("no_time_left")


def _shared_calls(process: MeasuredProcess, others: Iterable[Case]) -> list[SharedCalls]:
    """Return what it shows in turns with other candidates; what it said before stays."""
    found: list[SharedCalls] = []
    for case in others:
        try:
            found += replies.receive(process, replies.SharedReply).calls()
        except ProcessFailedError as error:
            why = error.reason
        except OutOfTimeError:
            why = because("no_time_left")
        else:
            continue
        return [*found, SharedCalls(other=case.id, reason=why, null_reasons={"compiles": why})]
    return found


def _explained(error: ProcessFailedError) -> ProcessFailedError:
    """Say that it was the making that failed; a missing device is reported as it is."""
    if error.reason.code == "gpu_unavailable":
        return error
    return ProcessFailedError(because("making_failed", error.reason), error.detail)
