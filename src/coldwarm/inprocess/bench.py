"""The Python face of ``coldwarm bench``."""

from __future__ import annotations

import keyword
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from coldwarm.clock import TIME
from coldwarm.contracts.reasons import because
from coldwarm.errors import UsageError
from coldwarm.functions.arguments import Call
from coldwarm.inprocess import carrying, finding, fresh, quiet, sending, several, warm
from coldwarm.inprocess.compared import compared
from coldwarm.inprocess.found import result
from coldwarm.inprocess.sending import FreshOptions, Given, NotMeasuredError
from coldwarm.runner import temporary

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType

    from coldwarm.contracts.result import CaseResult
    from coldwarm.inprocess.compared import BenchComparison
    from coldwarm.inprocess.result import BenchResult
    from coldwarm.inprocess.sending import Way

    Several = Mapping[str, Callable[..., Any]] | Sequence[Callable[..., Any]]

_ONE_AT_A_TIME = threading.RLock()
"""Two at once would disturb each other."""
_now_s = TIME.perf_counter
_WARM_SHARE = 0.4
"""Of a time budget, for the calls in this process where fresh ones are to follow."""
_NOT_ASKED = because("not_asked")


class Benchmark:
    """``coldwarm.bench`` with other options: ``Benchmark(processes=5)(function, *args, **kwargs)``.

    Options stand apart from the call, whose arguments are all the function's own.

    Args:
        cold: Measure first results in fresh processes.
        warm: Measure warm calls in this process, and in the fresh ones.
        processes: Fresh processes for each state of the caches.
        time_budget_s: Seconds for all of it; nothing is started after that.
        timeout_s: Seconds in which a fresh process must answer.
        tolerance: Largest error of a number of a fresh process's answer, over its magnitude in
            the answer of this process. Default: by its type.
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
        self._options = FreshOptions(
            processes=processes,
            warm=warm,
            time_budget_s=time_budget_s,
            timeout_s=timeout_s,
            tolerance=tolerance,
            out_dir=None if out_dir is None else Path(out_dir),
        )

    @overload
    def __call__(
        self, function: Callable[..., Any], /, *args: object, **kwargs: object
    ) -> BenchResult: ...

    @overload
    def __call__(
        self, function: Several, /, *args: object, **kwargs: object
    ) -> BenchComparison: ...

    def __call__(
        self,
        function: Callable[..., Any] | Several,
        /,
        *args: Any,
        **kwargs: Any,
    ) -> BenchResult | BenchComparison:
        """Measure ``function(*args, **kwargs)``, or each function of a list or a dict.

        Raises:
            UsageError: it cannot be called so, or returns nothing that can be waited for.
            KeyboardInterrupt: it was interrupted; nothing is left running.
        """
        return self._measure(sys._getframe(1), function, Call(args, kwargs))  # noqa: SLF001 - who calls decides where the function is found

    def _measure(
        self,
        caller: FrameType,
        function: Any,  # noqa: ANN401 - what it is, is checked
        call: Call,
    ) -> BenchResult | BenchComparison:
        if isinstance(function, (list, tuple, dict)) and not callable(function):
            return self._several(caller, function, call)
        if not callable(function):
            text = f"a {type(function).__name__} cannot be called; give the function, then its"
            raise UsageError(f"{text} arguments: coldwarm.bench(f, x), not coldwarm.bench(f(x))")
        _refuse_names(call)
        given = Given(function, call, self._sync, caller.f_globals, finding.count_call(caller))
        with (
            _ONE_AT_A_TIME,
            temporary.made() as folder,
        ):
            return self._measured(given, folder)

    def _several(self, caller: FrameType, functions: Several, call: Call) -> BenchComparison:
        _refuse_names(call)
        named = several.named(functions)
        calls = finding.count_call(caller)
        given = {
            name: Given(function, call, self._sync, caller.f_globals, calls)
            for name, function in named.items()
        }
        with (
            _ONE_AT_A_TIME,
            temporary.made() as folder,
        ):
            outcome = several.measure(given, self._options, folder, cold=self._cold)
        return compared(outcome)

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
            except NotMeasuredError as error:
                failed = error
        return result(ways[0].target.name if ways else given.name, in_process, case, failed)

    def _ways(
        self, given: Given, work: Path
    ) -> tuple[list[Way], CaseResult | None, NotMeasuredError]:
        """Return the ways to fresh processes; none, and why."""
        if not self._cold:
            return [], None, NotMeasuredError(_NOT_ASKED)
        if sys.platform != "linux":
            why = because("needs_linux", platform=sys.platform)
            return [], None, NotMeasuredError(why)
        try:
            return sending.ways(given, work), None, NotMeasuredError(_NOT_ASKED)
        except carrying.NotCarriedError as error:
            return [], None, NotMeasuredError(error.reason)

    def _fresh_options(self, began_s: float) -> FreshOptions:
        if self._budget_s is None:
            return self._options
        left_s = self._budget_s - (_now_s() - began_s)
        if left_s <= 0:
            raise NotMeasuredError(because("no_time_left"))
        return replace(self._options, time_budget_s=left_s)


def _refuse_names(call: Call) -> None:
    wrong = [one for one in call.named if not one.isidentifier() or keyword.iskeyword(one)]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is no name of an argument; give it by position")


@overload
def bench(function: Callable[..., Any], /, *args: object, **kwargs: object) -> BenchResult: ...


@overload
def bench(function: Several, /, *args: object, **kwargs: object) -> BenchComparison: ...


def bench(
    function: Callable[..., Any] | Several,
    /,
    *args: Any,
    **kwargs: Any,
) -> BenchResult | BenchComparison:
    """Measure ``function(*args, **kwargs)``: warm in this process, cold in fresh ones.

    The fresh processes import the function from its file, with the same arguments; what is in no
    file, such as a method of an object or a function of a notebook, is carried there by
    value. Where something cannot be pickled, the result names it and has the warm calls alone.
    What the function prints is kept back, and shown where it fails. The arguments given are
    left as they are, and so is the object of a method: the calls have copies, and a few after
    the timed ones have copies with slightly other numbers, to see whether answers are kept. For
    options see ``coldwarm.Benchmark``.

    Several functions in a list, or in a dict by name, are candidates for one job: ``bench([f, g],
    x)`` measures ``f(x)`` and ``g(x)`` in fresh processes, interleaved, checks their answers
    against the first one's, and judges them by it.

    Returns:
        The figures; at a prompt or in a notebook they show as a table. Of several functions the
        answer too: who is the fastest, and from how many calls on.

    Raises:
        UsageError: it cannot be called so, or returns nothing that can be waited for; one of
            several functions cannot be had in fresh processes.
        KeyboardInterrupt: it was interrupted; nothing is left running.
    """
    return Benchmark()._measure(sys._getframe(1), function, Call(args, kwargs))  # noqa: SLF001 - as in Benchmark
