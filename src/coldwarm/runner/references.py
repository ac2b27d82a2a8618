"""The float64 answers of all groups, each computed once in a process of its own."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from coldwarm.runner.guarded import MARK
from coldwarm.runner.launch import workload_job
from coldwarm.runner.process import MeasuredProcess, ProcessFailedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.runner.launch import Place
    from coldwarm.runner.plan import Case

_AT_ONCE = 2
"""Nothing is measured yet, so they may share the machine."""


def compute(place: Place, cases: Iterable[Case]) -> dict[str, str | ProcessFailedError]:
    """Write the answers of each case's group; return the hash of its inputs, or why not.

    Takes one case of each group. The paths are put into ``place.references``.
    """
    cases = list(cases)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        try:
            found = list(pool.map(lambda case: _one(place, case), cases))
        except BaseException:
            place.guard.sweep()  # or the pool would wait for processes nobody wants
            raise
    return {case.group: answer for case, answer in zip(cases, found, strict=True)}


def _one(place: Place, case: Case) -> str | ProcessFailedError:
    path = str(place.work / f"{case.group}.npz")
    place.references[case.group] = path
    job = {"role": "reference", **workload_job(case, place.options.seed), "reference": path}
    variables = {**os.environ, MARK: place.guard.mark_value}
    process = MeasuredProcess(job, variables, place.guard, timeout_s=place.options.timeout_s)
    try:
        said = process.receive("reference")
        process.wait()
    except ProcessFailedError as error:
        return ProcessFailedError(f"no reference answer: {error.reason}", error.detail)
    finally:
        process.kill()
    place.inputs[case.group] = str(said["input_sha256"])
    return place.inputs[case.group]
