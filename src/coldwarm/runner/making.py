"""Makes what a backend ``prepares`` ahead of time, once for a case, in a process of its own.

What it wrote lies under the run's own working directory and is gone when the run has ended; a
run that goes on makes it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import listing
from coldwarm.caches.made import OWNER
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Making
from coldwarm.errors import storage_error
from coldwarm.runner import accounts, artifacts, launch, translate
from coldwarm.runner.machine import telemetry
from coldwarm.runner.process import replies, view
from coldwarm.runner.process.isolation import owners_of
from coldwarm.runner.process.spawn import ProcessFailedError

if TYPE_CHECKING:
    from coldwarm.contracts.base import CacheMode
    from coldwarm.runner.running import Place
    from coldwarm.runner.schedule.suites import Case

_MODE: CacheMode = "cold_process_cold_cache"
"""A making starts with empty caches: nothing that it is charged for was there before."""


def make(place: Place, case: Case) -> Making:
    """Make what a case's measured processes load, in a process of its own.

    Raises:
        ProcessFailedError: nothing was made; the reason says at which step.
    """
    root, folder = place.work / "caches" / f"{case.id}-make", artifacts.folder_of(place.work, case)
    try:
        for path in (root, folder):
            view.discard(path)
            path.mkdir(parents=True)
        variables = launch.variables(place, case, _MODE, root)
    except OSError as error:
        raise storage_error(root, error) from error
    before = {
        owner: listing.take(root / owner)
        for owner in owners_of(case.backend, case.device, _MODE)
        if owner != OWNER
    }
    order, date = place.next_order(f"{case.id} make"), place.clock.date()
    reading = telemetry.read(place.clock.now_s())
    job = {**launch.case_job(place, case), "role": "make", "made": str(folder)}
    process = launch.spawn(place, case, job, variables)
    try:
        reply = replies.receive(process, replies.Made)
        ended = process.wait()
    except ProcessFailedError as error:
        raise _explained(error) from error
    finally:
        process.kill()
        place.measured_s += process.active_s
    after = telemetry.read(place.clock.now_s())
    made = artifacts.describe(folder)
    if not made:
        raise _explained(ProcessFailedError(because("no_artifact"), process.output_tail))
    spans = translate.phases(reply.entered_ns, reply.phases, process.spawned_ns)
    return Making(
        case=case.id,
        order=order,
        started_at=date,
        wall_s=ended.wall_s,
        phases=spans,
        parts=accounts.of_call(reply.parts, spans[-1].duration_s),
        artifacts=made,
        evidence=translate.evidence(
            before, {owner: listing.take(root / owner) for owner in before}, reply.counters
        ),
        input_sha256=reply.input_sha256,
        device=translate.device(reply.device),
        versions=reply.versions,
        telemetry=telemetry.between(reading, after, ended.cpu_s, translate.totals_of(reply)),
    )


def _explained(error: ProcessFailedError) -> ProcessFailedError:
    """Say that it was the making that failed; a missing device is reported as it is."""
    if error.reason.code == "gpu_unavailable":
        return error
    return ProcessFailedError(because("making_failed", error.reason), error.detail)
