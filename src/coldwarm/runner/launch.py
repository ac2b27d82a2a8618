"""The lives of a run's processes: measured ones, and those that make references and artifacts.

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
from typing import TYPE_CHECKING, Any

from coldwarm.caches import HOME, MOST_NAMED, listing, made
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Artifact, Making
from coldwarm.errors import storage_error
from coldwarm.runner import isolation, machine_settings, observe, replies, telemetry, temporary
from coldwarm.runner.case_list import affinity
from coldwarm.runner.guard import MARK
from coldwarm.runner.isolation import owners_of, process_variables, program_name
from coldwarm.runner.observe import Begun, RunContext, Running, Slot
from coldwarm.runner.spawn import MeasuredProcess, OutOfTimeError, ProcessFailedError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from coldwarm.caches.listing import Listing
    from coldwarm.contracts.base import CacheMode, CacheSettings
    from coldwarm.contracts.reasons import Reason
    from coldwarm.runner.case_list import Case


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


_MADE = made.OWNER.name
_EMPTY = {"cold_process_cold_cache", "first_ever"}


def job(place: RunContext, slot: Slot) -> dict[str, Any]:
    """Return the job of a process, as it goes down the pipe."""
    case = slot.case
    prepared = case.backend.prepares
    return {
        **_case_job(place, case),
        "role": "measure",
        "tolerance": case.workload.tolerances[case.dtype],
        "reference": place.references[case.group],
        "persistent": slot.persistent,
        "allocator": slot.allocator,
        "cache_settings": slot.cache_settings,
        "analyse": slot.analyse,
        "other_calls": slot.other_calls,
        "list_modules": False,
        # Such calls show their cost at the end of a cold process, and disturb nothing after them.
        "new_shapes": case.new_shapes and not slot.persistent and slot.mode in _EMPTY,
        "made": str(slot.root / _MADE) if prepared else None,
        "watch": _watched(place, slot) if slot.mode in _EMPTY else None,
    }


def _watched(place: RunContext, slot: Slot) -> dict[str, Any]:
    """Return what a process is to tell of the files that it opens; see ``frameworks.opened``."""
    since_ns = place.since_ns if slot.case.since_ns is None else slot.case.since_ns
    return {
        "since_ns": since_ns,
        "program": slot.case.program,
        "before_ns": time.time_ns(),
        "folders": _ours(place),
        "known": sorted(slot.hidden),
        "wrote": sorted(slot.case.wrote),
        "most": MOST_NAMED,
    }


def _ours(place: RunContext) -> list[str]:
    """Return the folders in which the run has its own files."""
    return [os.path.realpath(place.work), *temporary.own()]


def _case_job(place: RunContext, case: Case) -> dict[str, Any]:
    """Return the part of a job that says which backend and which workload."""
    return {
        "backend": case.backend.named(),
        "device": case.device,
        "threads": place.options.threads,
        **_workload_job(case, place.options.seed),
        **case.job,
    }


def _workload_job(case: Case, seed: int) -> dict[str, Any]:
    """Return the part of a job that says which workload on which inputs."""
    return {
        "workload": case.workload.source.named(),
        "size": case.size,
        "dtype": case.dtype,
        "numpy_dtype": case.numpy_dtype,
        "seed": seed,
    }


def variables(  # noqa: PLR0913 - each is one independent fact of a process
    place: RunContext,
    case: Case,
    mode: CacheMode,
    root: Path,
    cache_settings: CacheSettings = "keep_all",
    *,
    hidden: Collection[str] = (),
) -> dict[str, str]:
    """Return the environment of a process; makes the folders of its caches under ``root``."""
    found = process_variables(
        {**os.environ, **case.variables},
        case.backend,
        device=case.device,
        threads=place.options.threads,
        mode=mode,
        root=root,
        mark=place.guard.mark_value,
        deterministic=place.options.deterministic,
        cache_settings=cache_settings,
        hidden=hidden,
    )
    return {**found, "PATH": place.gpu_search_path} if case.device == "gpu" else found


def _spawn(
    place: RunContext,
    case: Case,
    job_: Mapping[str, Any],
    variables_: Mapping[str, str],
    view: isolation.Overlay | None = None,
) -> MeasuredProcess:
    """Start the process of a job."""
    options = place.options
    return MeasuredProcess(
        job_,
        variables_,
        place.guard,
        timeout_s=options.timeout_s,
        python=program_name(case.python, case.backend),
        affinity=affinity(options) if options.threads else None,
        enter=None if view is None else view.enter,
    )


def start(place: RunContext, slot: Slot) -> Running:
    """Start a process and wait for its first results.

    Raises:
        ProcessFailedError: it gave none.
    """
    return first_results(place, begin(place, slot))


def begin(place: RunContext, slot: Slot) -> Begun:
    """Start a process.

    Raises:
        StorageError: its caches could not be laid.
    """
    case = slot.case
    base = {**os.environ, **case.variables}
    try:
        hidden = slot.hidden if slot.mode in _EMPTY else ()
        found = variables(place, case, slot.mode, slot.root, slot.cache_settings, hidden=hidden)
        seen = isolation.make_view(slot.root, hidden, _ours(place), again=slot.mode not in _EMPTY)
        copies = _lay_artifacts(place.work, case, slot.root)
        before = _listings(slot, owners_of(case.backend, case.device, slot.mode))
    except OSError as error:
        raise storage_error(slot.root, error) from error
    if slot.mode == "first_ever":
        listing.drop_pages([*listing.runtime_files(), *copies])
    order = place.next_order(f"{case.id} {slot.mode} round {slot.round}")
    started_at = place.clock.date()
    reading = telemetry.read(place.clock.now_s())
    process = _spawn(place, case, job(place, slot), found, seen)
    user_settings = machine_settings.of_user(base, found)
    return Begun(slot, process, order, started_at, before, reading, found, user_settings)


def first_results(place: RunContext, begun: Begun, *, together: bool = False) -> Running:
    """Wait for the first results of a process; ``together``: others started meanwhile.

    Raises:
        ProcessFailedError: it gave none.
    """
    slot, process = begun.slot, begun.process
    if together:
        process.count_from_now()
    try:
        reply = replies.receive(process, replies.Start)
    except BaseException as error:
        cancel(place, begun)
        if isinstance(error, ProcessFailedError):
            error.wall_s, error.order = process.wait().wall_s, begun.order
        raise
    # Whose processor time it was, nobody can say where others started at the same time.
    cpu_s = None if together else process.cpu_so_far()
    after = telemetry.read(place.clock.now_s())
    expected = place.inputs.get(slot.case.group) if slot.case.shares_inputs else None
    running = Running(
        **vars(begun),
        start=reply,
        start_after=after,
        start_cpu_s=cpu_s,
        together=together,
        input_sha256=expected,
    )
    if slot.persistent:
        running.after = _listings(slot, running.before)
    return running


def cancel(place: RunContext, begun: Begun) -> None:
    """End a process whose first results are not wanted any more."""
    if begun.process.exit is None:
        begun.process.kill()
    place.measured_s += begun.process.active_s


def _listings(slot: Slot, owners: Iterable[str]) -> dict[str, Listing]:
    # In its home, links are the user's files.
    return {owner: listing.take(slot.root / owner, links=owner != HOME) for owner in owners}


def bind(running: Running, processors: Sequence[int]) -> None:
    """Let the main thread of a process run on these processors only."""
    # A process that is gone is found out by what is asked of it next.
    with suppress(OSError):
        os.sched_setaffinity(running.process.pid, processors)


def block(
    place: RunContext, running: Running, batch: int, seconds: float, limit: int
) -> tuple[replies.BlockReply, int]:
    """Let a held process run one block of warm calls; return it and its position in time.

    Raises:
        ProcessFailedError: it died or hung in it.
    """
    process = running.process
    order = place.next_order(f"{running.slot.case.id} block")
    cpu_s, before = process.cpu_so_far(), telemetry.read(place.clock.now_s())
    process.go_on()
    process.send({"op": "block", "batch": batch, "seconds": seconds, "limit": limit})
    reply = replies.receive(process, replies.BlockReply)
    process.hold()
    after, cpu_after_s = telemetry.read(place.clock.now_s()), process.cpu_so_far()
    used_s = None if cpu_s is None or cpu_after_s is None else cpu_after_s - cpu_s
    running.readings.append(telemetry.BlockReading(before, after, used_s))
    return reply, order


def ask_to_end(running: Running) -> None:
    """Let a held process come to its end, before it is waited for."""
    running.process.go_on()
    running.process.send({"op": "quit"})
    running.asked_to_end = True


def finish(place: RunContext, running: Running) -> None:
    """End a process and hear its last word.

    Raises:
        ProcessFailedError: it failed on the way out.
    """
    process = running.process
    try:
        if running.asked_to_end:
            process.count_from_now()
        elif running.slot.persistent:
            ask_to_end(running)
        running.end = replies.receive(process, replies.End)
        _refuse_unchecked(running)
        if running.end.more:
            if not running.slot.persistent:
                running.after = _listings(running.slot, running.before)
                process.send({"op": "others"})
            running.other_calls = _other_calls(process)
        elif running.slot.persistent and "function" in running.slot.case.job:
            running.other_calls = because("shown_by_others")
    except BaseException:
        process.kill()
        raise
    finally:
        running.wall_s = process.wait().wall_s
        _count(place, running)
    if not running.slot.persistent and not running.end.more:
        running.after = _listings(running.slot, running.before)


def _other_calls(process: MeasuredProcess) -> replies.OtherCallsReply | Reason:
    """Return what it shows after its last word, or why that is nothing; what it said stays."""
    try:
        return replies.receive(process, replies.OtherCallsReply)
    except ProcessFailedError as error:
        return error.reason
    except OutOfTimeError:
        return because("no_time_left")


def _refuse_unchecked(running: Running) -> None:
    """Refuse a process that never said what its first output was held against.

    Raises:
        ProcessFailedError: it did not.
    """
    end = running.end
    if running.start.input_sha256 is None and (end is None or end.first is None):
        reason = because("malformed", message="end", text="it has no check of the first output")
        raise ProcessFailedError(reason, running.process.output_tail)


def abandon(place: RunContext, running: Running) -> None:
    """End a process whose result is not wanted any more, whatever it does."""
    if running.process.exit is None:
        running.process.kill()
    _count(place, running)


def _count(place: RunContext, running: Running) -> None:
    """Add the time of a process that has ended, once."""
    if not running.counted:
        place.measured_s += running.process.active_s
    running.counted = True


def compute_reference(place: RunContext, case: Case) -> str:
    """Write the answer of a case's group; return the hash of its inputs.

    Where the case brings an answer, nothing is computed. The path is put into ``place.references``.

    Raises:
        ProcessFailedError: there is no answer.
        OutOfTimeError: the time of the whole run is over.
    """
    if case.answer is not None:
        place.references[case.group] = case.answer.path
        place.inputs[case.group] = case.answer.inputs_sha256
        return case.answer.inputs_sha256
    path = str(place.work / f"{case.group}.npz")
    place.references[case.group] = path
    job = {"role": "reference", **_workload_job(case, place.options.seed), "reference": path}
    variables = {**os.environ, MARK: place.guard.mark_value}
    process = MeasuredProcess(job, variables, place.guard, timeout_s=place.options.timeout_s)
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
    place.inputs[case.group] = reply.input_sha256
    return reply.input_sha256


_MAKING_MODE: CacheMode = "cold_process_cold_cache"
"""A making starts with empty caches: nothing that it is charged for was there before."""


def make_artifacts(place: RunContext, case: Case) -> Making:
    """Make what a case's measured processes load, in a process of its own.

    Raises:
        ProcessFailedError: nothing was made; the reason says at which step.
    """
    root, folder = place.work / "caches" / f"{case.id}-make", _artifact_folder(place.work, case)
    try:
        for path in (root, folder):
            isolation.discard(path)
            path.mkdir(parents=True)
        found = variables(place, case, _MAKING_MODE, root)
    except OSError as error:
        raise storage_error(root, error) from error
    before = {
        owner: listing.take(root / owner)
        for owner in owners_of(case.backend, case.device, _MAKING_MODE)
        if owner != _MADE
    }
    order, date = place.next_order(f"{case.id} make"), place.clock.date()
    reading = telemetry.read(place.clock.now_s())
    job = {**_case_job(place, case), "role": "make", "made": str(folder)}
    process = _spawn(place, case, job, found)
    try:
        reply = replies.receive(process, replies.MadeReply)
        ended = process.wait()
    except ProcessFailedError as error:
        raise _explained(error) from error
    finally:
        process.kill()
        place.measured_s += process.active_s
    after = telemetry.read(place.clock.now_s())
    made = _describe_artifacts(folder)
    if not made:
        raise _explained(ProcessFailedError(because("no_artifact"), process.output_tail))
    spans = observe.phases(reply.entered_ns, reply.phases, process.spawned_ns)
    return Making(
        case=case.id,
        order=order,
        started_at=date,
        wall_s=ended.wall_s,
        phases=spans,
        parts=observe.call_parts(reply.parts, spans[-1].duration_s),
        artifacts=made,
        evidence=observe.evidence(
            before, {owner: listing.take(root / owner) for owner in before}, reply.counters
        ),
        input_sha256=reply.input_sha256,
        device=observe.device(reply.device),
        versions=reply.versions,
        telemetry=telemetry.between(reading, after, ended.cpu_s, observe.totals_of(reply)),
    )


def _explained(error: ProcessFailedError) -> ProcessFailedError:
    """Say that it was the making that failed; a missing device is reported as it is."""
    if error.reason.code == "gpu_unavailable":
        return error
    return ProcessFailedError(because("making_failed", error.reason), error.detail)
