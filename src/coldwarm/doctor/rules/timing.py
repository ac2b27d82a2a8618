"""Clocks that are read before the work is done, and times that have compiling in them."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called
from coldwarm.doctor.trace import ClockRead, CountedLine, Ready, SourceLine, length, union

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace, Span, Spot

    _Key = tuple[tuple[SourceLine, SourceLine], tuple[SourceLine, ...]]
    """Lines of two clocks, and the lines that have called their function, the innermost first."""
    _Run = tuple[tuple[SourceLine, SourceLine], tuple[SourceLine, ...], Span]


_REASONS = {
    "doctor_pending": "{clock}() was read {n_reads:# time} while results were still being computed",
    "doctor_thrown_away": "{clock}() was read {n_reads:# time} after calls whose results are"
    " not kept: nothing waited until they were computed",
    "doctor_unknown_tree": "jax.block_until_ready was given an object of a class that JAX does not"
    " know as a tree, {n_times:# time}: it returned without waiting for the arrays in it",
    "doctor_first_call": "of the {interval_s:time} between two readings of {clock}(),"
    " {compiled_s:time} were compiling",
    "doctor_wrong_figure": "it makes a figure wrong, and costs no time",
}
_PARAMETERS = {
    "doctor_pending": "clock n_reads caller",
    "doctor_first_call": "clock compiled_s interval_s caller",
}
_ADVICE = {
    "doctor_unknown_tree": "wait for the arrays in it, or register its class, such as with"
    " jax.tree_util.register_dataclass",
}
_CHANGES = {
    "missing-sync-timing": "wait before the clock is read: jax.block_until_ready(result)",
    "first-call-in-timing": "call once before the clock starts, or give the first call a figure of"
    " its own",
}


_MOST_COMPILING = 0.25
"""Share of an interval: where more of it is compiling, it is no time of calls."""
_NOTHING = 0.02
"""Share of an interval by which it may be too short."""
_FEW_STATEMENTS = 3
"""Between two readings of a clock, where it is calls that are timed."""
_OF_FIRST = frozenset(
    ("first", "cold", "compile", "compiled", "compiling", "compilation", "startup", "warmup")
)
"""Words with which a time of a first call is told."""
_WARM_UP = frozenset(("warm", "up"))


_CLOCKS = frozenset(
    (
        *("perf_counter", "perf_counter_ns", "time", "time_ns", "monotonic", "monotonic_ns"),
        *("process_time", "process_time_ns", "default_timer"),
    )
)
_COUNTS = frozenset(("range", "arange", "repeat", "count"))
"""What a loop goes through that only repeats."""


@dataclass(frozen=True)
class _Interval:
    """Two readings of clocks in one function, one after the other."""

    begin: ClockRead
    end: ClockRead

    @property
    def caller(self) -> str:
        """From where the function was called."""
        return _called_at(self.end)

    @property
    def begin_s(self) -> float:
        """When it began."""
        return self.begin.at_s

    @property
    def end_s(self) -> float:
        """When it ended."""
        return self.end.at_s


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name clocks by what was wrong when they were read."""
    clocks = {one.slot: one for one in trace.places_of("clock")}
    reads = [row for row in trace.rows_of(ClockRead) if row.slot in clocks]
    if not trace.sees_calls:
        clocks, reads = _seen(trace)
    ends = {slot: one for slot, one in clocks.items() if _ends(trace, one)}
    first = {
        slot: one for slot, one in ends.items() if _measured_first_call(trace, slot, reads, clocks)
    }
    for one in trace.places_of("timeit"):
        yield _missing_sync(trace, one)
    unknown = _unknown_trees(trace, clocks.values())
    yield from unknown.values()
    for slot, one in ends.items():
        thrown = _thrown_away(trace, slot, reads)
        n_early = one.counts[1] - _n_as_good(trace, slot, reads, clocks)
        if n_early > 0 and (one.site.path, one.site.function) not in unknown:
            early = [row for row in reads if row.slot == slot and row.pending]
            yield _missing_sync(trace, one, _caller(trace, one, early, reads), n_early)
        elif thrown and slot not in first:
            says = because("doctor_thrown_away", clock=one.name, n_reads=thrown)
            yield replace(_missing_sync(trace, one), n=thrown, says=says)
        elif slot in first and not _timed_again(trace, slot, reads, clocks):
            longest = _longest(trace, slot, reads, clocks)
            if not _is_of_all(trace, one, longest, clocks):
                caller = _caller(trace, one, [longest.end], reads)
                yield _first_call(trace, one, longest, caller)


def _unknown_trees(
    trace: ProcessTrace, clocks: Iterable[CountedLine]
) -> dict[tuple[str, str], Finding]:
    """Return by function with a clock the wait that most often waited for nothing."""
    timed = {(one.site.path, one.site.function) for one in clocks}
    found: dict[tuple[str, str], Finding] = {}
    for one in sorted(trace.places_of("wait"), key=lambda each: each.counts[2]):
        where, n = (one.site.path, one.site.function), one.counts[2]
        if n and where in timed:
            found[where] = trace.finding(
                "missing-sync-timing",
                one.site,
                because("doctor_unknown_tree", n_times=n),
                n=n,
                no_figure=because("doctor_wrong_figure"),
            )
    return found


def _n_as_good(
    trace: ProcessTrace, slot: int, reads: list[ClockRead], clocks: Mapping[int, CountedLine]
) -> int:
    """Return how many readings came too early by no more than next to nothing of the interval."""
    late = {row.number: row.late_s for row in trace.rows_of(Ready) if row.slot == slot}
    return sum(
        late[one.end.number] <= _NOTHING * (one.end_s - one.begin_s)
        for one in _intervals(slot, reads, clocks)
        if one.end.pending and one.end.number in late
    )


def _ends(trace: ProcessTrace, one: CountedLine) -> bool:
    return trace.sources.ends_interval(one.site.path, one.site.line, one.name)


def _thrown_away(trace: ProcessTrace, slot: int, reads: list[ClockRead]) -> int:
    """Count the readings right after a compiled function whose result nobody keeps.

    Such a result is gone when the clock is read, so that it can't be asked whether it was ready.
    """
    calls = {one.slot: one.site for one in trace.places_of("jitted")}
    after = [row.after for row in reads if row.slot == slot]
    sites = [calls[one] for one in after if one in calls]
    return sum(trace.sources.throws_away(one.path, one.line) for one in sites)


def _caller(
    trace: ProcessTrace, one: CountedLine, early: list[ClockRead], reads: list[ClockRead]
) -> str:
    """Return for which line a helper has read a clock first; empty where it is no helper.

    A helper is called from several lines, wraps a function, or times what others dispatch.
    """
    callers = [row.caller[0] for row in early if row.caller]
    if not callers:
        return ""
    calls = {place.slot: place.site for place in trace.places_of("jitted")}
    timed = calls.get(early[0].after or 0)
    lines = {_called_at(row) for row in reads if row.slot == one.slot}
    here = (one.site.path, one.site.function)
    others = timed is not None and (timed.path, timed.function) != here
    if not others and len(lines) == 1 and "<locals>" not in one.site.function:
        return ""
    path, line, _ = callers[0]
    return f"{PurePath(path).name}:{line}"


def _missing_sync(
    trace: ProcessTrace, one: CountedLine, caller: str = "", n_early: int = 0
) -> Finding:
    n, wrong = n_early or one.counts[1], because("doctor_wrong_figure")
    says = because("doctor_pending", clock=one.name, n_reads=n, caller=caller)
    return trace.finding("missing-sync-timing", one.site, says, n=n, no_figure=wrong)


def _is_of_all(
    trace: ProcessTrace, one: CountedLine, interval: _Interval, clocks: Mapping[int, CountedLine]
) -> bool:
    """Say whether an interval is told as what it is, or is that of a whole piece of a program.

    A time of a first call has that in its name. How long a program took to do several things is
    no time of calls, and nothing is compared with it; a rate is.
    """
    path, last = one.site.path, one.site.line
    if _is_of_first(trace, path, last):
        return True
    if one.n > 1 or trace.sources.is_rate(path, last):
        return False
    first = clocks[interval.begin.slot].site.line
    if trace.sources.n_statements(path, first, last) > _FEW_STATEMENTS:
        return True
    if trace.sources.prints_between(path, first, last):
        return True
    spans = interval.begin_s, interval.end_s
    most = max(trace.calls, key=lambda call: _overlap_s(call, *spans))
    return most.site is None or not (most.site.path == path and first <= most.site.line <= last)


def _first_call(trace: ProcessTrace, one: CountedLine, interval: _Interval, caller: str) -> Finding:
    begin, end = interval.begin_s, interval.end_s
    compiled_s, interval_s = _all_compiling_s(trace.calls, begin, end), end - begin
    most = max(trace.calls, key=lambda call: _overlap_s(call, begin, end))
    says = because(
        "doctor_first_call",
        clock=one.name,
        compiled_s=compiled_s,
        interval_s=interval_s,
        caller=caller,
    )
    wrong = because("doctor_wrong_figure")
    return trace.finding(
        "first-call-in-timing",
        one.site,
        says,
        framework=most.framework,
        no_figure=wrong,
    )


def _measured_first_call(
    trace: ProcessTrace, slot: int, reads: list[ClockRead], clocks: Mapping[int, CountedLine]
) -> bool:
    """Say whether all intervals of one caller that end at a clock are mostly compiling.

    Of those that are added up for a mean, whether their sum is; where each is of another function,
    whether one of them is.
    """
    spent: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for n, one in enumerate(_intervals(slot, reads, clocks)):
        begin, end = one.begin_s, one.end_s
        if end > begin:
            own = f"{n} " if _is_of_each(trace, clocks[slot].site, one.end.caller or ()) else ""
            told = _compiling_s(trace.calls, begin, end), end - begin
            spent[own + one.caller].append(told)
    site = clocks[slot].site
    is_mean = trace.sources.is_mean(site.path, site.line)
    return any(
        min(compiled_s / interval_s for compiled_s, interval_s in one) > _MOST_COMPILING
        or (is_mean and sum(a for a, _ in one) > _MOST_COMPILING * sum(b for _, b in one))
        for one in spent.values()
    )


def _called_at(read: ClockRead) -> str:
    """Return from where the function was called in which a clock is read."""
    return str(read.caller and read.caller[:1])


def _is_of_each(trace: ProcessTrace, clock: SourceLine, callers: Sequence[SourceLine]) -> bool:
    """Say whether a loop times each of several functions once, by one that is given them.

    The lines are those that have called it, the innermost first; nothing else repeats them.
    """
    around = trace.sources.functions_around(clock.path, clock.line)
    first, *others = callers or [clock]
    loop = trace.loop_at(first)
    if not around or not callers or loop is None:
        return False
    if any(trace.loop_at(one) not in {None, loop} for one in others):
        return False
    path, extent = loop
    variables, goes_through = trace.sources.goes_through(path, extent)
    counts = any(isinstance(one, ast.Call) and called(one) in _COUNTS for one in goes_through)
    if counts or trace.sources.loop(path, extent[0]) not in {None, extent}:
        return False
    calls = trace.sources.calls_at(first.path, first.line)
    return any(
        isinstance(given, ast.Name) and given.id in variables
        for call in calls
        if called(call) == around[0].name
        for given in _given_functions(around[0], call)
    )


def _given_functions(function: Function, call: ast.Call) -> list[ast.expr]:
    """Return what a call gives to those parameters of a function that the function calls."""
    parameters = [one.arg for one in [*function.args.posonlyargs, *function.args.args]]
    if parameters[:1] in (["self"], ["cls"]):
        del parameters[0]
    given = dict(zip(parameters, call.args, strict=False))
    given |= {one.arg: one.value for one in call.keywords if one.arg}
    calls = [one for one in ast.walk(function) if isinstance(one, ast.Call)]
    used = {one.func.id for one in calls if isinstance(one.func, ast.Name)}
    return [value for name, value in given.items() if name in used]


def _seen(trace: ProcessTrace) -> tuple[dict[int, CountedLine], list[ClockRead]]:
    """Return clocks and readings of them, as looks at the program tell: where no call is seen.

    Between two lines that read a clock the program was seen from when to when. What it repeats
    there is one such time, and of that a mean alone can be judged.
    """
    found: dict[int, CountedLine] = {}
    reads: list[ClockRead] = []
    for (first, last), caller, (begin_s, end_s) in _runs(trace):
        for site, at_s in ((first, begin_s), (last, end_s)):
            slot = next((one.slot for one in found.values() if one.site == site), len(found))
            known = found.setdefault(slot, _clock(trace, site, slot))
            known.counts = (known.n + 1, 0)
            is_last = bool(reads) and reads[-1].slot == slot
            if not is_last:
                read = ClockRead(at_s=at_s, slot=slot, thread=trace.main_thread)
                read.caller, read.number = list(caller), known.n - 1
                reads.append(read)
    return found, reads


def _is_clock(call: ast.Call) -> bool:
    """Say whether a call reads a clock, by the names that it has in its module."""
    owner, _, name = ast.unparse(call.func).rpartition(".")
    return name in _CLOCKS and owner in {"", "time", "timeit"}


def is_benchmarked(trace: ProcessTrace, stack: Iterable[SourceLine]) -> bool:
    """Say whether one of these lines is timed for a rate or a mean, or as what comes first."""
    for site in stack:
        function = next(iter(trace.sources.functions_around(site.path, site.line)), None)
        calls = trace.sources.calls_of(site.path, function)
        lines = sorted(one.lineno for one in calls if _is_clock(one))
        last = next((one for one in lines if one > site.line), None)
        if last is None or lines[0] >= site.line:
            continue
        if trace.sources.is_rate(site.path, last) or _is_of_first(trace, site.path, last):
            return True
    return False


def _is_of_first(trace: ProcessTrace, path: str, line: int) -> bool:
    """Say whether an interval that ends at a line is told as that of a first call."""
    words = trace.sources.words_of_interval(path, line)
    return bool(words & _OF_FIRST) or words >= _WARM_UP


def _clock(trace: ProcessTrace, site: SourceLine, slot: int) -> CountedLine:
    calls = trace.sources.calls_at(site.path, site.line)
    name = next((called(one) for one in calls if _is_clock(one)), "")
    return CountedLine(at_s=0.0, what="clock", name=name, stack=[site], slot=slot, counts=(0, 0))


def _runs(trace: ProcessTrace) -> Iterator[_Run]:
    """Yield from when to when the program was seen between two clocks, and who had called it."""
    between: dict[int, dict[_Key, None]] = {}
    open_: dict[_Key, tuple[float, float]] = {}
    for spot, (begin_s, end_s) in trace.looked():
        if spot.number not in between:
            between[spot.number] = dict.fromkeys(_keys(trace, spot))
        now = between[spot.number]
        for key in [one for one in open_ if one not in now]:
            yield *key, open_.pop(key)
        for key in now:
            open_[key] = open_.get(key, (begin_s, end_s))[0], end_s
    for key, span in open_.items():
        yield *key, span


def _keys(trace: ProcessTrace, spot: Spot) -> Iterator[_Key]:
    """Yield the clocks that a spot is between, and what had called the function that reads them."""
    for n, site in enumerate(spot.stack):
        function = next(iter(trace.sources.functions_around(site.path, site.line)), None)
        name = function.name if function is not None else "<module>"
        calls = trace.sources.calls_of(site.path, function)
        for first, last in pairwise(sorted({one.lineno for one in calls if _is_clock(one)})):
            callers = tuple(spot.stack[n + 1 :])
            if first < site.line < last and _is_one_time(trace, site, (first, last), callers):
                ends = SourceLine(site.path, first, name), SourceLine(site.path, last, name)
                yield ends, callers


def _is_one_time(
    trace: ProcessTrace,
    site: SourceLine,
    clocks: tuple[int, int],
    callers: Sequence[SourceLine],
) -> bool:
    """Say whether what is seen between two clocks is one time, or is told as the mean of several.

    A call that keeps no result is a warm-up.
    """
    first, last = clocks
    path = site.path
    repeated = trace.sources.loop(path, first) is not None
    if repeated and not trace.sources.is_mean(path, last):
        return False
    if callers and trace.sources.throws_away(callers[0].path, callers[0].line):
        return False
    return not trace.in_loop(callers) or _is_of_each(trace, site, callers)


def _timed_again(
    trace: ProcessTrace, slot: int, reads: list[ClockRead], clocks: Mapping[int, CountedLine]
) -> bool:
    """Say whether another clock times the same function when it is compiled.

    The first call then has a figure of its own.
    """
    spans = [(one.begin_s, one.end_s) for one in _intervals(slot, reads, clocks)]
    compiled = {
        call.short_name
        for call in trace.calls
        if not call.is_operation and any(_overlap_s(call, begin, end) for begin, end in spans)
    }
    for other, clock in clocks.items():
        is_other = other != slot and _ends(trace, clock)
        rest = list(_intervals(other, reads, clocks)) if is_other else []
        if rest and not any(_compiling_s(trace.calls, one.begin_s, one.end_s) for one in rest):
            inside = (clock.site.path, clock.site.function)
            jitted = trace.places_of("jitted")
            if any(
                (one.site.path, one.site.function) == inside and one.name in compiled
                for one in jitted
            ):
                return True
    return False


def _intervals(
    slot: int, reads: list[ClockRead], clocks: Mapping[int, CountedLine]
) -> Iterator[_Interval]:
    """Yield the intervals that end at a clock, and began when one was read in its function."""
    place = clocks[slot].site
    by_thread: dict[int, list[ClockRead]] = defaultdict(list)
    for row in reads:
        site: SourceLine = clocks[row.slot].site
        if (site.path, site.function) == (place.path, place.function):
            by_thread[row.thread].append(row)
    for rows in by_thread.values():
        for before, after in pairwise(rows):
            if after.slot == slot:
                yield _Interval(before, after)


def _compiling_s(calls: list[CompiledCall], begin: float, end: float) -> float:
    """Return how long it was compiled between two moments, for calls.

    What is compiled without one, by ``lower`` and ``compile``, is what such a clock is to measure.
    """
    timed = (one for one in calls if not one.is_operation and one.cause.kind != "apart")
    return sum(_overlap_s(one, begin, end) for one in timed)


def _all_compiling_s(calls: list[CompiledCall], begin: float, end: float) -> float:
    """Return the seconds in which something was compiled, operations outside of ``jit`` too."""
    inside = ((max(begin, a), min(end, b)) for call in calls for a, b in call.spans)
    return length(union((a, b) for a, b in inside if a < b))


def _overlap_s(call: CompiledCall, begin: float, end: float) -> float:
    return sum(max(0.0, min(end, b) - max(begin, a)) for a, b in call.spans)


def _longest(
    trace: ProcessTrace, slot: int, reads: list[ClockRead], clocks: Mapping[int, CountedLine]
) -> _Interval:
    """Return the interval that has most compiling in it."""
    found = _intervals(slot, reads, clocks)
    return max(found, key=lambda one: _compiling_s(trace.calls, one.begin_s, one.end_s))


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, _ADVICE, _PARAMETERS),
    changes=_CHANGES,
    short={"missing-sync": "missing-sync-timing"},
)
