"""The same function in fresh processes, on the engine that measures a suite."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.clock import TIME
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import ColdwarmError
from coldwarm.functions import transfer, values
from coldwarm.report.progress import open_progress
from coldwarm.report.shown import PlainConsole
from coldwarm.runner import suite
from coldwarm.runner.functions import candidates, inspection
from coldwarm.runner.functions.inspection import Setting
from coldwarm.runner.process import temporary
from coldwarm.runner.process.guarded import Guard
from coldwarm.runner.schedule.batches import BLOCK_S, BLOCKS
from coldwarm.runner.schedule.options import COLD, Options

if TYPE_CHECKING:
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.functions.arguments import Call
    from coldwarm.inprocess.warm import InProcess
    from coldwarm.runner.functions.targets import Target
    from coldwarm.runner.schedule.case import Case

AGAINST = "the answer in the process that asked"


@dataclass(frozen=True)
class FreshOptions:
    """How much is to be measured in fresh processes, and what becomes of the files."""

    processes: int
    warm: bool
    time_budget_s: float | None
    timeout_s: float
    tolerance: float | None
    sync: str | None
    """What waits for a result, ``MODULE:NAME``; ``None``: what its arrays have."""
    out_dir: Path | None


class NotMeasuredError(RefusedError):
    """Nothing could be measured in fresh processes."""


def measure(target: Target, call: Call, in_process: InProcess, options: FreshOptions) -> CaseResult:
    """Measure a target with a call's arguments, checked against this process's answer.

    Raises:
        NotMeasuredError: the arguments cannot be transferred, or the target does not run there.
        KeyboardInterrupt: it was interrupted; its processes are gone.
    """
    began_s = TIME.perf_counter()
    with tempfile.TemporaryDirectory(dir=temporary.folder()) as folder:
        work = Path(folder)
        try:
            transfer.write(call, folder)
            case = _case(target, call, in_process, options, work)
            quiet = not sys.stderr.isatty()
            with open_progress(PlainConsole(stderr=True, quiet=quiet)) as progress:
                outcome = suite.run(
                    _options(options),
                    options.out_dir or work / "out",
                    listener=progress,
                    cases=[case],
                    spent_s=TIME.perf_counter() - began_s,
                )
        except transfer.UnsendableError as error:
            raise NotMeasuredError(because("stated", text=str(error))) from error
        except RefusedError as error:
            raise NotMeasuredError(_in_process(error.reason, target)) from error
        except ColdwarmError as error:
            raise NotMeasuredError(because("stated", text=str(error))) from error
    if outcome.interrupted:
        raise KeyboardInterrupt
    return outcome.cases[0]


def _case(
    target: Target, call: Call, in_process: InProcess, options: FreshOptions, work: Path
) -> Case:
    """Inspect the target in a fresh process; return it as a case."""
    answer = _answer(in_process)
    setting = Setting(
        name="bench",
        inputs=(),
        placement=None,
        check=answer is not None,
        tolerance=options.tolerance,
        sync=options.sync,
        threads=None,
        seed=0,
        timeout_s=options.timeout_s,
        arguments=str(work),
        against=AGAINST,
    )
    with Guard() as guard:
        inspections = inspection.inspect([target], setting, guard, work)
    inspection.refuse_own_caches([target], inspections)
    inspected, _ = inspections[0]
    if inspected.input_sha256 != values.digest(list(call.flat)):
        raise RefusedError(because("other_arguments"))
    if answer is not None and inspected.repeats and in_process.repeats:
        np.savez(work / f"{target.label}.npz", *answer)
    return candidates.cases([target], inspections, target.label, setting, work)[0]


def _answer(in_process: InProcess) -> list[np.ndarray] | None:
    """Return the numbers of this process's answer; ``None``: they cannot be compared."""
    try:
        found = [values.to_host(leaf) for leaf in in_process.output]
    except (TypeError, ValueError):
        return None
    return found or None


def _in_process(reason: Reason, target: Target) -> Reason:
    """Return a refusal as it holds where there is one function, which needs no label."""
    if reason.code == "name_missing" and target.path is not None:
        return because("defined_late", file=target.path.name, name=target.name)
    if reason.code == "failed_before":
        several_calls = (target.calls or 0) > 1
        return because("several", reason, because("results_used")) if several_calls else reason
    if "label" not in reason.values:
        return reason
    return because(reason.code, *reason.parts, **{**reason.values, "label": ""})


def _options(options: FreshOptions) -> Options:
    return Options(
        suite="bench",
        cache_modes=(*COLD, "warm_process") if options.warm else COLD,
        min_runs=options.processes,
        max_runs=options.processes,
        time_budget_s=options.time_budget_s,
        timeout_s=options.timeout_s,
        block_s=BLOCK_S,
        blocks=BLOCKS,
    )
