"""The Python face of ``coldwarm bench``."""

from __future__ import annotations

import inspect
import keyword
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from coldwarm.clock import TIME
from coldwarm.contracts import codec
from coldwarm.contracts.answer import PlanReport
from coldwarm.contracts.policy import Policy
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.sweep import SweepReport, SweepRequest
from coldwarm.errors import ColdwarmError, UsageError
from coldwarm.functions import values
from coldwarm.functions.arguments import Call
from coldwarm.inprocess import sending
from coldwarm.inprocess import warm_calls as warm
from coldwarm.inprocess.bench_result import NOT_ASKED, ShownResult, result_of
from coldwarm.inprocess.sending import Given, NotCarriedError, count_call, name_of, target_of
from coldwarm.report import answer_text, plan_document
from coldwarm.report import bench as bench_text
from coldwarm.report import sweep as sweep_text
from coldwarm.report.progress import open_progress
from coldwarm.report.sentences import with_advice
from coldwarm.report.shown import PlainConsole
from coldwarm.runner import temporary
from coldwarm.runner.functions import sweep
from coldwarm.runner.functions.bench import FunctionBench
from coldwarm.runner.functions.candidates import Setting
from coldwarm.runner.functions.targets import Target, labelled, options
from coldwarm.runner.spawn import Guard
from coldwarm.runner.sweep_results import report_of
from coldwarm.stats.bench_report import bench_report
from coldwarm.stats.costs import gather
from coldwarm.stats.planning import CACHES, Job, plan

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence
    from types import FrameType

    from coldwarm.contracts.answer import Answer, Lead, Plan
    from coldwarm.contracts.bench import BenchReport
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.inprocess.bench_result import BenchResult
    from coldwarm.inprocess.warm_calls import InProcess
    from coldwarm.report.document import Document
    from coldwarm.runner.suite import Outcome

    CachesOfPlan = Literal["empty", "filled", "kept"]
    Several = Mapping[str, Callable[..., Any]] | Sequence[Callable[..., Any]]

_ONE_AT_A_TIME = threading.RLock()
"""Two at once would disturb each other."""
_now_s = TIME.perf_counter
_WARM_SHARE = 0.4
"""Share of a time budget for the calls in this process where fresh ones are to follow."""
_AGAINST = "the answer in the process that asked"
_FEWEST = 2


@dataclass(frozen=True, repr=False)
class BenchComparison(ShownResult):
    """Result of ``coldwarm.bench`` of several functions, by the names of candidates.

    Attributes:
        report: Figures, verdicts with their intervals and break-even: what ``coldwarm bench
            --json`` prints. Its first candidate is the reference.
        suite: The run as a whole, in seconds and in the order of its processes.
        cases: Everything about each candidate, the observations of its processes too.
    """

    report: BenchReport
    suite: SuiteResult
    cases: dict[str, CaseResult]
    _planned: Plan | None = None
    """What the break-even is from; ``None``: not all of it was measured."""

    @property
    def answered(self) -> Answer:
        """The answer as data: ranges of calls, who leads, what would change it."""
        return self.report.answers[0]

    @property
    def answer(self) -> str:
        """The answer in words, a line for each part: ``print(found.answer)``."""
        said = answer_text.lines(self.answered, budget=_in_python)
        return "\n".join(f"{one.label}: {one.text}" for one in said)

    @property
    def leads(self) -> list[Lead]:
        """For each cache mode who is the fastest, and all verdicts: part of the answer."""
        return self.answered.leads

    def plan(self, calls: int, *, processes: int = 1, caches: CachesOfPlan = "kept") -> CallsPlan:
        """Compute what so many calls in each process cost with each candidate, in seconds.

        Args:
            calls: Calls in each process.
            processes: How many times the program is started.
            caches: Compilation caches: ``empty`` or ``filled`` at each start, or ``kept``: empty
                at the first one.

        Raises:
            UsageError: a number is below 1, or there are no such caches.
        """
        if calls < 1 or processes < 1 or caches not in CACHES:
            text = (
                f"calls={calls!r}, processes={processes!r}, caches={caches!r}: give whole numbers "
                f"from 1, and one of {', '.join(CACHES)}"
            )
            raise UsageError(text)
        group = gather(self.answered.workload, list(self.cases.values()))
        planned = plan(group, Job(calls, 1, processes, CACHES[caches]))
        report = PlanReport(
            run_id=self.suite.run_id,
            suite=self.suite.suite,
            plans=[planned],
            answers=self.report.answers,
        )
        return CallsPlan(report)

    def _document(self, *, ratios: bool = False) -> Document:
        cases = list(self.cases.values())
        return bench_text.document(
            self.report, self.suite, cases, self._planned, ratios=ratios, budget=_in_python
        )


@dataclass(frozen=True, repr=False)
class CallsPlan(ShownResult):
    """What a number of calls costs: ``report`` is what ``coldwarm plan --json`` prints."""

    report: PlanReport

    def _document(self, *, ratios: bool = False) -> Document:  # noqa: ARG002 - it has no others
        return plan_document.document(self.report)


@dataclass(frozen=True, repr=False)
class SizeComparison(ShownResult):
    """Who is the cheapest at which size: ``report`` is what ``coldwarm bench --sweep`` prints."""

    report: SweepReport

    def _document(self, *, ratios: bool = False) -> Document:  # noqa: ARG002 - it has no others
        return sweep_text.document(self.report)


def _in_python(seconds: float) -> str:
    """Write a time budget as it is given in Python."""
    return f"coldwarm.Benchmark(time_budget_s={seconds:.0f})(…)"


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
        self._cold, self._warm, self._sync, self._tolerance = cold, warm, sync, tolerance
        self._processes, self._budget_s, self._timeout_s = processes, time_budget_s, timeout_s
        self._out_dir = None if out_dir is None else Path(out_dir)

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

    def sweep(
        self,
        functions: Several,
        make: Callable[[int], tuple[Any, ...]],
        /,
        low: int,
        high: int,
    ) -> SizeComparison:
        """Find who is the cheapest at which size: each function is called with ``make(size)``.

        Sizes between ``low`` and ``high`` are chosen by what is not clear yet, until each border is
        known to 10 % of its size, or the ``time_budget_s`` is over.

        Args:
            functions: Two or more, in a list, or in a dict by name.
            make: Returns the arguments for a size.
            low: The smallest size, from 1.
            high: The largest one.

        Raises:
            UsageError: as of a call; or the sizes are not whole numbers, the smaller one first.
            KeyboardInterrupt: it was interrupted; nothing is left running.
        """
        if not all(isinstance(one, int) for one in (low, high)) or not 1 <= low < high:
            text = f"low={low!r}, high={high!r}: give two whole numbers from 1, the smaller first"
            raise UsageError(text)
        caller = sys._getframe(1)  # noqa: SLF001 - as in ``__call__``
        calls, named = count_call(caller), _named(functions)
        began_s = _now_s()

        def bench_at(size: int, folder: Path, left_s: float | None) -> Outcome:
            call = Call(_made(make, size), {})
            given = [
                Given(one, call, self._sync, caller.f_globals, calls, name)
                for name, one in named.items()
            ]
            with temporary.made() as work:
                return self._of_size(given, work, folder, left_s)

        with _ONE_AT_A_TIME, temporary.made() as place:
            asked = SweepRequest(
                name="size",
                low=low,
                high=high,
                goal=sweep.GOAL,
                asked={},
                identity=sweep.identity(TIME.time()),  # one of its own: nothing goes on with it
            )
            folder = self._out_dir or place
            sweep.prepare(folder, asked)
            found = sweep.Sizes(sweep.Dimensions("size", low, high), folder, bench_at)
            left_s = None if self._budget_s is None else self._budget_s - (_now_s() - began_s)
            try:
                interrupted = found.measure(left_s)
            except RefusedError as error:
                raise UsageError(with_advice(error.reason)) from None
            if interrupted:
                raise KeyboardInterrupt
            report = report_of(asked, folder, [found.told()])
        return SizeComparison(codec.without_secrets(report))

    def _of_size(
        self, given: Sequence[Given], work: Path, folder: Path, left_s: float | None
    ) -> Outcome:
        found = _targets(given, work)
        return self._fresh(found, given[0].call, work, _now_s(), size=(folder, left_s))

    def _measure(
        self,
        caller: FrameType,
        function: Any,  # noqa: ANN401 - what it is, is checked
        call: Call,
    ) -> BenchResult | BenchComparison:
        several = isinstance(function, (list, tuple, dict)) and not callable(function)
        if not several and not callable(function):
            text = f"a {type(function).__name__} cannot be called; give the function, then its"
            raise UsageError(f"{text} arguments: coldwarm.bench(f, x), not coldwarm.bench(f(x))")
        _refuse_names(call)
        if not several:
            _refuse_mistaken(function, call)
        calls = count_call(caller)
        given = [
            Given(one, call, self._sync, caller.f_globals, calls, name)
            for name, one in (_named(function) if several else {"": function}).items()
        ]
        with _ONE_AT_A_TIME, temporary.made() as folder:
            return self._several(given, folder) if several else self._alone(given[0], folder)

    def _several(self, given: Sequence[Given], work: Path) -> BenchComparison:
        began_s = _now_s()
        try:
            found = _targets(given, work)
            return _comparison_of(self._fresh(found, given[0].call, work, began_s))
        except RefusedError as error:
            raise UsageError(with_advice(error.reason)) from None

    def _alone(self, given: Given, work: Path) -> BenchResult:
        """Measure a function in this process, then in fresh ones against its answer here."""
        began_s = _now_s()
        share = _WARM_SHARE if self._cold else 1.0
        target, why, output, case = None, because(NOT_ASKED), "", None
        if self._cold:
            try:
                target = _target(given, work / "given")
            except RefusedError as error:
                why = error.reason
        with warm.quiet():
            here = warm.measure(
                sending.of_its_own(given.function),
                given.call,
                given.name,
                warm=self._warm,
                ends_s=None if self._budget_s is None else began_s + share * self._budget_s,
                sync=self._sync,
            )
        if target is not None:
            try:
                case = self._fresh([target], given.call, work, began_s, here=here).cases[0]
            except RefusedError as error:
                why, output = _without_label(error.reason), getattr(error.__cause__, "detail", "")
            except ColdwarmError as error:
                why = because("stated", text=str(error))
        return result_of(given.name if target is None else target.name, here, case, why, output)

    def _fresh(  # noqa: PLR0913 - what is measured, and where
        self,
        found: Sequence[Target],
        call: Call,
        work: Path,
        began_s: float,
        *,
        here: InProcess | None = None,
        size: tuple[Path, float | None] | None = None,
    ) -> Outcome:
        """Measure functions in fresh processes, interleaved.

        ``here``: what this process has shown of the one function that there is. ``size``: the
        folder of one size of a sweep, and the seconds that it has.

        Raises:
            RefusedError: one of them does not run there.
            KeyboardInterrupt: it was interrupted; its processes are gone.
        """
        if here is not None and self._budget_s is not None and _now_s() >= began_s + self._budget_s:
            raise RefusedError(because("no_time_left"))
        chosen = options(
            cold=self._cold,
            warm=self._warm,
            time_budget_s=self._budget_s,
            min_runs=self._processes,
            max_runs=None if here is None else self._processes,
            timeout_s=self._timeout_s,
        )
        if size is not None:
            chosen = sweep.of_one_size(chosen, size[1])
        answer = here.output if here is not None and here.output and here.repeats else None
        console = PlainConsole(stderr=True, quiet=not sys.stderr.isatty())
        with Guard() as guard, open_progress(console) as progress:
            setting = Setting(
                name="bench",
                inputs=(),
                placement=None,
                check=here is None or bool(here.output),
                tolerance=self._tolerance,
                threads=None,
                seed=0,
                timeout_s=self._timeout_s,
                guard=guard,
                work=work,
                input_sha256=values.digest(list(call.flat)),
                against=None if here is None else _AGAINST,
                cold=self._cold,
            )
            measured = FunctionBench(found, setting, chosen, found[0].label, answer)
            into = size[0] if size else self._out_dir or work / "out"
            outcome = measured.run(into, began_s, progress)
        if outcome.interrupted:
            raise KeyboardInterrupt
        return outcome


def _made(make: Callable[[int], object], size: int) -> tuple[Any, ...]:
    """Return the arguments for a size.

    Raises:
        UsageError: they are no tuple.
    """
    made = make(size)
    if not isinstance(made, tuple):
        text = f"the function for the arguments returns a {type(made).__name__}; return a tuple"
        raise UsageError(f"{text}, of one: (x,)")
    return made


def _targets(given: Sequence[Given], work: Path) -> list[Target]:
    """Return the candidates, each with its arguments in a folder of its own.

    Raises:
        UsageError: one cannot be had in fresh processes.
        RefusedError: likewise, for a reason that has its name.
    """
    placeholders = [Target(one.label, "", None, one.label) for one in given]
    found = []
    for named, one in zip(labelled(placeholders), given, strict=True):
        try:
            target = _target(one, work / f"of-{named.label}")
        except NotCarriedError as error:
            raise UsageError(f"{named.label}: {with_advice(error.reason)}") from None
        same = target.otherwise and replace(target.otherwise, label=named.label)
        found.append(replace(target, label=named.label, otherwise=same))
    return found


def _comparison_of(outcome: Outcome) -> BenchComparison:
    path = str(outcome.path)
    report, planned = bench_report(outcome.suite, outcome.cases, path, Policy())
    cases = {case.candidate: case for case in outcome.cases}
    return BenchComparison(codec.without_secrets(report), outcome.suite, cases, planned)


def _refuse_names(call: Call) -> None:
    wrong = [one for one in call.named if not one.isidentifier() or keyword.iskeyword(one)]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is no name of an argument; give it by position")


def _refuse_mistaken(function: Callable[..., Any], call: Call) -> None:
    """Refuse a call that the function does not allow, where it was meant for ``bench``.

    Raises:
        UsageError: an option of ``Benchmark`` is among its arguments, or another function.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # it does not tell
        return
    try:
        signature.bind(*call.positional, **call.named)
    except TypeError as error:
        name = getattr(function, "__name__", "the function")
        option = next((one for one in call.named if one in _OPTIONS), None)
        if option is not None:
            text = f"{option} is an option: coldwarm.Benchmark({option}=…)({name}, …)"
        elif call.positional and callable(call.positional[0]):
            text = "several functions go in a list: coldwarm.bench([f, g], x)"
        else:
            text = f"{name}: {error}"
        raise UsageError(text) from None


def _target(given: Given, folder: Path) -> Target:
    if sys.platform != "linux":
        raise RefusedError(because("needs_linux", platform=sys.platform))
    return target_of(given, folder)


def _without_label(reason: Reason) -> Reason:
    """Return a refusal as it holds where there is one function, which needs no label."""
    if "label" not in reason.values or reason.code == "failed_before":
        return reason
    return because(reason.code, *reason.parts, **{**reason.values, "label": ""})


def _named(functions: Mapping[str, Any] | Iterable[Any]) -> dict[str, Callable[..., Any]]:
    """Return functions by the names of candidates: those given, or their own.

    Raises:
        UsageError: there are not two, one cannot be called, or two have one name.
    """
    given: list[tuple[str, Any]]
    if isinstance(functions, Mapping):
        given = list(functions.items())
    else:
        given = [(name_of(one).rpartition(".<locals>.")[2], one) for one in functions]
    names = [str(name) for name, _ in given]
    if len(given) < _FEWEST:
        raise UsageError("give two functions or more in a list; one stands alone: bench(f, x)")
    wrong = next((one for _, one in given if not callable(one)), None)
    if wrong is not None:
        text = f"a {type(wrong).__name__} among the functions cannot be called; give functions,"
        raise UsageError(f"{text} and then their arguments: coldwarm.bench([f, g], x)")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        text = f"two functions are called {twice!r}; name them: coldwarm.bench("
        raise UsageError(f"{text}{{'first': f, 'second': g}}, x)")
    return dict(zip(names, (one for _, one in given), strict=True))


_OPTIONS = frozenset(inspect.signature(Benchmark).parameters)


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
