"""The float64 answer of a group, computed once in a process of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.runner.launch import workload_job
from coldwarm.runner.process import replies
from coldwarm.runner.process.guarded import MARK
from coldwarm.runner.process.spawn import MeasuredProcess, OutOfTimeError, ProcessFailedError

if TYPE_CHECKING:
    from coldwarm.runner.running import Place
    from coldwarm.runner.schedule.suites import Case


def compute(place: Place, case: Case) -> str:
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
    job = {"role": "reference", **workload_job(case, place.options.seed), "reference": path}
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
