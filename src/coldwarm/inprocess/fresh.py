"""The same function in fresh processes, on the engine that measures a suite."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coldwarm.clock import TIME
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import ColdwarmError
from coldwarm.functions import values
from coldwarm.inprocess.sending import BY_NAME_ALONE, NotMeasuredError
from coldwarm.report.progress import open_progress
from coldwarm.report.shown import PlainConsole
from coldwarm.runner import suite
from coldwarm.runner.cases import BLOCKS, COLD, Options
from coldwarm.runner.functions import candidates, inspection
from coldwarm.runner.functions.inspection import Setting
from coldwarm.runner.spawn import Guard

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.functions.arguments import Call
    from coldwarm.inprocess.sending import FreshOptions, Way
    from coldwarm.inprocess.warm import InProcess
    from coldwarm.runner.cases import Case
    from coldwarm.runner.functions.targets import Target
    from coldwarm.runner.replies import Inspection

_AGAINST = "the answer in the process that asked"


def measure(
    ways: Sequence[Way], call: Call, in_process: InProcess, options: FreshOptions, work: Path
) -> CaseResult:
    """Measure a function with a call's arguments, checked against this process's answer.

    It is had in the first of the ways in which it can be inspected; ``work`` is a folder for all.

    Raises:
        NotMeasuredError: it does not run there.
        KeyboardInterrupt: it was interrupted; its processes are gone.
    """
    began_s = TIME.perf_counter()
    try:
        case = _first(ways, call, in_process, options, work)
        quiet = not sys.stderr.isatty()
        with open_progress(PlainConsole(stderr=True, quiet=quiet)) as progress:
            outcome = suite.run(
                _options(options),
                options.out_dir or work / "out",
                listener=progress,
                cases=[case],
                spent_s=TIME.perf_counter() - began_s,
            )
    except RefusedError as error:
        output = getattr(error.__cause__, "detail", "")
        raise NotMeasuredError(_in_process(error.reason), output) from error
    except ColdwarmError as error:
        raise NotMeasuredError(because("stated", text=str(error))) from error
    if outcome.interrupted:
        raise KeyboardInterrupt
    return outcome.cases[0]


def _first(
    ways: Sequence[Way], call: Call, in_process: InProcess, options: FreshOptions, work: Path
) -> Case:
    """Return the case of the first way that can be inspected.

    Raises:
        RefusedError: none can.
    """
    refused: list[RefusedError] = []
    for way in ways:
        try:
            return _case(way, call, in_process, options, work)
        except RefusedError as error:
            refused.append(error)
            if error.reason.code not in BY_NAME_ALONE:
                break
    # What fails either way is told with its place in the file.
    alike = refused[0].reason.code == refused[-1].reason.code
    raise refused[0] if alike else refused[-1]


def _case(way: Way, call: Call, in_process: InProcess, options: FreshOptions, work: Path) -> Case:
    """Inspect the function in a fresh process; return it as a case."""
    target = way.target
    answer = in_process.output or None
    setting = Setting(
        name="bench",
        inputs=(),
        placement=None,
        check=answer is not None,
        tolerance=options.tolerance,
        sync=way.sync,
        threads=None,
        seed=0,
        timeout_s=options.timeout_s,
        arguments=str(way.folder),
        against=_AGAINST,
    )
    with Guard() as guard:
        inspections = inspection.inspect([target], setting, guard, work)
        inspected, _ = inspections[0]
        inspection.tell_others(target, inspected, setting, guard, work)
        if answer is not None and inspected.repeats and in_process.repeats:
            _hold_against(answer, (target, inspected, setting), guard, work)
    inspection.refuse_own_caches([target], inspections)
    # A pickle says itself what it holds.
    if not target.carried and inspected.input_sha256 != values.digest(list(call.flat)):
        raise RefusedError(because("other_arguments"))
    return candidates.cases([target], inspections, target.label, setting, work)[0]


def _hold_against(
    answer: Sequence[NDArray[Any]],
    way: tuple[Target, Inspection, Setting],
    guard: Guard,
    work: Path,
) -> None:
    """Put this process's answer in the place of the inspection's, for others to be held against."""
    target, inspected, setting = way
    asked = replace(target, label=f"{target.label}-asked")
    np.savez(work / f"{asked.label}.npz", *answer)
    inspection.tell_noise([(target, inspected), (asked, inspected)], asked, setting, guard, work)
    (work / f"{asked.label}.npz").replace(work / f"{target.label}.npz")


def _in_process(reason: Reason) -> Reason:
    """Return a refusal as it holds where there is one function, which needs no label."""
    if "label" not in reason.values or reason.code == "failed_before":
        return reason
    return because(reason.code, *reason.parts, **{**reason.values, "label": ""})


def _options(options: FreshOptions) -> Options:
    return Options(
        suite="bench",
        cache_modes=(*COLD, "warm_process") if options.warm else COLD,
        min_runs=options.processes,
        max_runs=options.processes,
        blocks=BLOCKS,
        time_budget_s=options.time_budget_s,
        timeout_s=options.timeout_s,
    )
