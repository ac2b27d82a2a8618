"""The time to first result of a function, measured in fresh processes for a test."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import UsageError
from coldwarm.inprocess import finding
from coldwarm.integrations import opening
from coldwarm.integrations.testing import kept, limits, turns
from coldwarm.integrations.testing.limits import MOST
from coldwarm.report import compare
from coldwarm.report.sentences import with_advice
from coldwarm.runner import recompute
from coldwarm.runner.functions import bench
from coldwarm.runner.functions.request import Request
from coldwarm.runner.process import temporary
from coldwarm.runner.schedule.options import Options
from coldwarm.stats.compare.comparable import failure
from coldwarm.stats.compare.results import IncomparableError, NothingValidError

if TYPE_CHECKING:
    from coldwarm.contracts.answer import Summary
    from coldwarm.contracts.result import Benchmarks, Measured
    from coldwarm.integrations.testing.limits import Against, Asked, Limit


class _FirstResult(NamedTuple):
    """What was measured, and what is said of it."""

    seconds: Summary
    benchmarks: list[dict[str, Any]]
    """The figures of its processes, to be saved."""
    text: str
    late: str
    """Why the test fails; empty: it does not."""


def first_result(asked: Asked, limit: Limit) -> _FirstResult:
    """Measure a first result, one measuring at a time, and hold it against its limit.

    Raises:
        UsageError: it cannot be measured, or not be compared.
        ContractError: the baseline is broken.
    """
    stored = None if limit.baseline is None else opening.read(Path(limit.baseline))
    label = None if stored is None else limits.label_in(stored, asked.wanted)
    with turns.alone():
        ours = _measured(asked, label)
    taken, late = _seconds(ours, asked), ""
    text = limits.first_result(asked, taken)
    if stored is not None:
        judged = _compared(ours, asked, stored, limit)
        text += f"; {limits.ratio(judged)}"
        late = limits.later(asked, taken, judged) if judged.too_late else ""
    elif limit.below is not None and limits.is_above(taken, limit.below):
        late = limits.above(asked, taken, limit.below)
    return _FirstResult(taken, kept.starts(ours, asked.wanted.called), text, late)


def _measured(asked: Asked, label: str | None) -> Measured:
    """Measure in fresh processes, one after the other; nothing is left on disk.

    ``label``: what the function is called in a stored result.

    Raises:
        UsageError: it cannot be measured, and why.
    """
    if sys.platform != "linux":
        raise UsageError(with_advice(because("needs_linux", platform=sys.platform)))
    variables = [f"{name}={value}" for name, value in finding.variables(None).items()]
    request = Request(
        targets=[asked.target if label is None else f"{label}={asked.target}"],
        inputs=asked.inputs,
        variables=variables,
        options=Options(
            suite="bench",
            cache_modes=(asked.mode,),
            min_runs=asked.processes,
            max_runs=asked.processes,
            timeout_s=asked.timeout_s,
        ),
    )
    with temporary.made() as folder:
        try:
            outcome = bench.run(request, folder / "out")
        except RefusedError as error:
            raise UsageError(f"{asked.target}: {with_advice(error.reason)}") from None
        if outcome.interrupted:
            raise KeyboardInterrupt
        found = recompute.read(outcome.path)
    why = failure(next(iter(found.cases.values())))
    if why is not None:
        raise UsageError(f"{asked.target} fails in a fresh process: {with_advice(why)}")
    return found


def _seconds(ours: Measured, asked: Asked) -> Summary:
    """Return the first result of what was measured.

    Raises:
        UsageError: no process had the caches that were asked for.
    """
    (case,) = ours.cases.values()
    for one in case.cold:
        if one.cache_mode == asked.mode and "ttfr" in one.seconds:
            return one.seconds["ttfr"]
    why = with_advice(case.reason or because("no_valid_process"))
    raise UsageError(f"{asked.target} has no first result: {why}")


def _compared(ours: Measured, asked: Asked, stored: Measured | Benchmarks, limit: Limit) -> Against:
    """Hold what was measured against a stored result.

    Raises:
        UsageError: they cannot be compared, and what to do.
    """
    reports = recompute.read_noise(None, [Path(stored.path).parent])
    rules = limits.Rules(limit.below or MOST, limit.allow, reports)
    try:
        return limits.against(ours, stored, asked.wanted, rules, opening.of_run(ours))
    except IncomparableError as error:
        text = compare.refused(error).replace("--allow ", "allow=")
        raise UsageError(f"{asked.target}, with A {stored.path} and B now: {text}") from None
    except NothingValidError as error:
        raise UsageError(compare.nothing_valid(error)) from None
