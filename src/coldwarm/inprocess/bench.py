"""The Python face of ``coldwarm bench``."""

from __future__ import annotations

import keyword
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldwarm.caches.modes import EVERY_CALL
from coldwarm.clock import TIME
from coldwarm.contracts.reasons import because
from coldwarm.errors import UsageError
from coldwarm.functions import values
from coldwarm.functions.arguments import Call
from coldwarm.inprocess import carrying, finding, fresh, quiet, sending, warm
from coldwarm.inprocess.result import BenchResult
from coldwarm.inprocess.sending import Given
from coldwarm.runner.process import temporary
from coldwarm.runner.schedule.options import COLD
from coldwarm.stats.cautions import other_calls, two_levels
from coldwarm.stats.selection import warm_processes
from coldwarm.stats.summarise import warm_summary

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from types import FrameType

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, ColdSummary, WarmSummary
    from coldwarm.contracts.summary import Caution
    from coldwarm.inprocess.sending import Way
    from coldwarm.inprocess.warm import InProcess

_ONE_AT_A_TIME = threading.RLock()
"""Two at once would disturb each other."""
_now_s = TIME.perf_counter
_WARM_SHARE = 0.4
"""Of a time budget, for the calls in this process where fresh ones are to follow."""
_NOT_ASKED = because("not_asked")
_SHOWN = {"not_kept", "not_compared", "carried"}
"""Limitations that are said beside the figures."""
_SHOWN_BY_INTERVAL = {"few", "precision"}


class Benchmark:
    """``coldwarm.bench`` with other options: ``Benchmark(processes=5)(function, *args, **kwargs)``.

    Options stand apart from the call, whose arguments are all the function's own.

    Args:
        cold: Measure first results in fresh processes.
        warm: Measure warm calls in this process, and in the fresh ones.
        processes: Fresh processes for each state of the caches.
        time_budget_s: Seconds for all of it; nothing is started after that.
        timeout_s: Seconds in which a fresh process must answer.
        tolerance: Largest error of a fresh process's answer, over the largest magnitude of
            the answer in this process. Default: by its type.
        sync: What waits for a result of a class that coldwarm does not know. It is called on each
            result inside the timed window; what it returns, if anything, is the result.
        out_dir: Folder to leave the artifacts of the fresh processes in. Default: nowhere.

    Raises:
        UsageError: the options leave nothing to measure.
    """

    def __init__(  # noqa: PLR0913 - each is one choice, by name
        self,
        *,
        cold: bool = True,
        warm: bool = True,
        processes: int = 3,
        time_budget_s: float | None = None,
        timeout_s: float = 300.0,
        tolerance: float | None = None,
        sync: Callable[[Any], Any] | None = None,
        out_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        """Keep the options."""
        if not cold and not warm:
            raise UsageError("cold=False and warm=False leave nothing to measure; drop one")
        if processes < 1:
            raise UsageError(f"processes={processes}: give 1 or more")
        if time_budget_s is not None and time_budget_s <= 0:
            raise UsageError(f"time_budget_s={time_budget_s}: give seconds above 0")
        if sync is not None and not callable(sync):
            raise UsageError(f"sync is a {type(sync).__name__}; give the function that waits")
        self._cold, self._budget_s, self._sync = cold, time_budget_s, sync
        self._options = fresh.FreshOptions(
            processes=processes,
            warm=warm,
            time_budget_s=time_budget_s,
            timeout_s=timeout_s,
            tolerance=tolerance,
            out_dir=None if out_dir is None else Path(out_dir),
        )

    def __call__(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> BenchResult:  # noqa: ANN401 - the function's own
        """Measure ``function(*args, **kwargs)``.

        Raises:
            UsageError: it cannot be called so, or returns nothing that can be waited for.
            KeyboardInterrupt: it was interrupted; nothing is left running.
        """
        return self._measure(sys._getframe(1), function, Call(args, kwargs))  # noqa: SLF001 - who calls decides where the function is found

    def _measure(self, caller: FrameType, function: Any, call: Call) -> BenchResult:  # noqa: ANN401 - what it is, is checked
        if not callable(function):
            text = f"a {type(function).__name__} cannot be called; give the function, then its"
            raise UsageError(f"{text} arguments: coldwarm.bench(f, x), not coldwarm.bench(f(x))")
        wrong = [one for one in call.named if not one.isidentifier() or keyword.iskeyword(one)]
        if wrong:
            raise UsageError(f"{wrong[0]!r} is no name of an argument; give it by position")
        given = Given(function, call, self._sync, caller.f_globals, finding.count_call(caller))
        with (
            _ONE_AT_A_TIME,
            tempfile.TemporaryDirectory(dir=temporary.folder()) as folder,
        ):
            result = self._measured(given, Path(folder))
        if any(map(values.is_strided, values.leaves(list(call.flat)))):
            result.cautions.append(because("made_contiguous"))
        return result

    def _measured(self, given: Given, work: Path) -> BenchResult:
        began_s = _now_s()
        share = _WARM_SHARE if self._cold else 1.0
        ends_s = None if self._budget_s is None else began_s + share * self._budget_s
        ways, case, failed = self._ways(given, work)
        with quiet.kept_back():
            in_process = warm.measure(
                carrying.of_its_own(given.function),
                given.call,
                given.name,
                warm=self._options.warm,
                ends_s=ends_s,
                sync=self._sync,
            )
        if ways:
            try:
                options = self._fresh_options(began_s)
                case = fresh.measure(ways, given.call, in_process, options, work)
            except fresh.NotMeasuredError as error:
                failed = error
        return _result(ways[0].target.name if ways else given.name, in_process, case, failed)

    def _ways(
        self, given: Given, work: Path
    ) -> tuple[list[Way], CaseResult | None, fresh.NotMeasuredError]:
        """Return the ways to fresh processes; none, and why."""
        if not self._cold:
            return [], None, fresh.NotMeasuredError(_NOT_ASKED)
        if sys.platform != "linux":
            why = because("needs_linux", platform=sys.platform)
            return [], None, fresh.NotMeasuredError(why)
        try:
            return sending.ways(given, work), None, fresh.NotMeasuredError(_NOT_ASKED)
        except carrying.NotCarriedError as error:
            return [], None, fresh.NotMeasuredError(error.reason)

    def _fresh_options(self, began_s: float) -> fresh.FreshOptions:
        if self._budget_s is None:
            return self._options
        left_s = self._budget_s - (_now_s() - began_s)
        if left_s <= 0:
            raise fresh.NotMeasuredError(because("no_time_left"))
        return replace(self._options, time_budget_s=left_s)


def bench(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> BenchResult:  # noqa: ANN401 - the function's own
    """Measure ``function(*args, **kwargs)``: warm in this process, cold in fresh ones.

    The fresh processes import the function from its file, with the same arguments; what is in no
    file, such as a method of an object or a function of a notebook, is carried there by
    value. Where something cannot be pickled, the result names it and has the warm calls alone.
    What the function prints is kept back, and shown where it fails. The arguments given are
    left as they are, and so is the object of a method: the calls have copies, and a few after
    the timed ones have copies with slightly other numbers, to see whether answers are kept. For
    options see ``coldwarm.Benchmark``.

    Returns:
        The figures; at a prompt or in a notebook they show as a table.

    Raises:
        UsageError: it cannot be called so, or returns nothing that can be waited for.
        KeyboardInterrupt: it was interrupted; nothing is left running.
    """
    return Benchmark()._measure(sys._getframe(1), function, Call(args, kwargs))  # noqa: SLF001 - as in Benchmark


def _result(
    name: str, in_process: InProcess, case: CaseResult | None, error: fresh.NotMeasuredError
) -> BenchResult:
    reasons: dict[str, Reason] = {}
    warm_calls = None
    if in_process.observation is None:
        reasons["warm"] = _NOT_ASKED
    else:
        observed = [in_process.observation]
        warm_calls = warm_summary(observed, warm_processes(observed))
        if warm_calls.call_s is None:
            judged = in_process.observation.judgements["warm_process"].reason
            every = judged.code == EVERY_CALL
            reasons["warm"] = judged if every else warm_calls.null_reasons["call_s"]
            warm_calls = None
    failed = error.reason if case is None else _failure(case)
    cold: dict[CacheMode, ColdSummary | None] = dict.fromkeys(COLD)
    if case is not None:
        cold.update({one.cache_mode: one for one in case.cold if one.n_ok})
    reasons.update({mode: failed for mode, one in cold.items() if one is None})
    warm_fresh = None if case is None else case.warm
    if warm_fresh is None or warm_fresh.call_s is None:
        reasons["warm_fresh"] = failed if in_process.observation is not None else _NOT_ASKED
        warm_fresh = None
    return BenchResult(
        name=name,
        warm=warm_calls,
        warm_fresh=warm_fresh,
        cold=cold,
        first_call_s=in_process.first_call_s,
        missing=reasons,
        cautions=_cautions(in_process, case, warm_calls),
        in_process=in_process.observation,
        case=case,
        output=error.output if case is None else _printed(case),
    )


def _printed(case: CaseResult) -> str:
    """Return what the first fresh process that failed printed last."""
    failed = [one.stderr_tail for one in case.observations if one.status == "failed"]
    return next((text for text in failed if text), "")


def _failure(case: CaseResult) -> Reason:
    if case.reason is None:
        return because("no_valid_process")
    if case.reason.code == "correctness_gate":
        gates = [one.gate.reason for one in case.observations if one.gate and one.gate.reason]
        return because("fresh_answer_differs", *gates[:1])
    return case.reason


def _of_calls(observation: Observation) -> list[Reason]:
    """Return what the warm calls of this process have shown besides their median."""
    found = []
    for process in warm_processes([observation]):
        slower = process.steadiness.reason.code == "steady_slower"
        if slower or not process.steadiness.steady:
            found.append(process.steadiness.reason)
        if process.steadiness.levels is not None:
            found.append(two_levels([process.steadiness.levels]))
    seen = observation.other_calls
    return found if seen is None else found + other_calls(seen)


def _cautions(
    in_process: InProcess, case: CaseResult | None, warm_calls: WarmSummary | None
) -> list[Reason | Caution]:
    cautions: list[Reason | Caution] = []
    if in_process.renewed:
        cautions.append(because("arguments_changed"))
    if not in_process.repeats:
        cautions.append(because("answers_differ"))
    blocks = in_process.observation.blocks if in_process.observation else []
    compiled = sum(bool(block.compiles) for block in blocks)
    if compiled and warm_calls is not None:
        cautions.append(because("in_process_compiled", n_blocks=compiled))
    if in_process.observation is not None:
        cautions += _of_calls(in_process.observation)
    here = in_process.observation.settings if in_process.observation else {}
    if here:
        named = [f"{name}={value}" for name, value in here.items()]
        cautions.append(because("settings", setting_names=named))
    if case is not None:
        cautions += [one for one in case.warnings if one.kind not in _SHOWN_BY_INTERVAL]
        cautions += [one for one in case.limitations if one.code in _SHOWN]
    return cautions
