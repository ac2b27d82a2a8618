"""Programs that tests compile: by test and by program, where and why, and their cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from coldwarm.doctor.record.recorder import followed
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace
from coldwarm.report.sentences import counted
from coldwarm.report.units import duration

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from coldwarm.doctor.trace import CallDifference, CompiledCall


def begin(*, fingerprints: bool = False) -> None:
    """Follow what is compiled from now on, with a fingerprint of each program if asked for."""
    memory = followed()
    memory.fingerprints = memory.fingerprints or fingerprints


def now() -> int:
    """Return the place after all that was compiled so far."""
    memory = followed()
    return memory.n_gone + len(memory.rows)


def since(place: int) -> list[CompiledCall]:
    """Return the calls for which something was traced or compiled after a place."""
    memory = followed()
    rows = memory.since(place)
    # What was lowered before may be compiled now.
    known = {row["call"] for row in rows if row["kind"] == "call"}
    begun = {row["call"] for row in rows if row["kind"] == "stage"} - known
    if begun:
        earlier = memory.rows[: len(memory.rows) - len(rows)]
        rows = [one for one in earlier if one["kind"] == "call" and one["call"] in begun] + rows
    return ProcessTrace.of(rows, (), SourceFiles({})).calls


def _failures() -> list[str]:
    """Return where watching itself has failed: what it told may be incomplete."""
    rows = [row for row in followed().rows if row["kind"] == "failed"]
    return [f"{row['at']}, {row['error']}" for row in rows]


def programs(place: int, *, operations: bool) -> list[CompiledCall]:
    """Return the calls after a place that needed a new program.

    One that is read from a cache on disk is one, too: whether a test passes must not depend on what
    lies there. Single operations outside of ``jit`` count only if asked for.
    """
    return [one for one in since(place) if one.compiled and (operations or not one.is_operation)]


_MOST_CALLS, _MOST_DIFFERENCES, _MOST_VALUES = 10, 3, 4
_LONGEST = 240
"""Characters of the arguments of a call."""
_LISTED = ("static", "shape", "dtype", "type")
"""Kinds of difference of which each earlier call has a value that can be shown."""


def describe_compiles(calls: Sequence[CompiledCall], everything: Sequence[CompiledCall]) -> str:
    """Return where something was compiled, and why again, with the argument's earlier values.

    ``everything``: all calls of this process so far, these among them.
    """
    lines = [line for one in calls[:_MOST_CALLS] for line in _lines(one, everything)]
    if len(calls) > _MOST_CALLS:
        lines.append(f"  … and {len(calls) - _MOST_CALLS} more")
    return "\n".join(lines)


def _lines(call: CompiledCall, everything: Sequence[CompiledCall]) -> Iterator[str]:
    where = f"{call.site.path}:{call.site.line}" if call.site else "at no line of a file"
    given = ", ".join(
        [f"{name}: {kind}" for name, kind in call.arguments.items()]
        + [f"{name}={value}" for name, value in call.static.items()]
    )
    given = given if len(given) <= _LONGEST else f"{given[:_LONGEST]}…"
    read = "read from the cache in" if call.hit else "compiled in"
    yield f"  {where}: {call.name}({given}), {read} {duration(call.total_s)}"
    if call.cause.kind == "first" and not call.differences:
        yield "    for the first time"
        return
    number = call.cause.n_objects
    if call.cause.kind == "new_function":
        what = f"the {_ordinal(number)} function object" if number else "another function object"
        yield f"    `jit` got {what} of this code: make the jitted function once, and keep it"
        for each in call.cause.held or ():
            held = f"`{each.argument}`, which is {each.now}; it was {each.before}"
            yield f"    the function holds {held}"
    elif not call.differences:
        yield "    again, and nothing that is watched differed"
    earlier = [
        one
        for one in everything
        if one.number < call.number and one.name == call.name and _code(one) == _code(call)
    ]
    for each in call.differences[:_MOST_DIFFERENCES]:
        yield f"    {_difference(each, earlier)}"
    if len(call.differences) > _MOST_DIFFERENCES:
        yield f"    … and {len(call.differences) - _MOST_DIFFERENCES} more differences"


def _code(call: CompiledCall) -> tuple[object, object]:
    return call.function.path, call.function.line


def _ordinal(number: int) -> str:
    tens = number % 100 in {11, 12, 13}
    return f"{number}{'th' if tens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _difference(each: CallDifference, earlier: Sequence[CompiledCall]) -> str:
    kind, name, now, before = each.kind, each.argument, each.now, each.before
    if kind in _LISTED:
        return f"`{name}` is {now}; it was {_values(name, now, before, earlier)}"
    if kind == "tree":
        return f"`{name}` is built otherwise: {now}; it was {before}"
    if kind == "commitment":
        words = {"True": "was put on a device by name", "False": "was not put on a device by name"}
        return f"`{name}` {words.get(now, now)}; before, it {words.get(before, before)}"
    if kind == "context":
        return f"the setting `{name}` is {now}; it was {before}"
    if kind == "transform":
        return f"it is called inside of {_inside(now)}; before, inside of {_inside(before)}"
    return f"`{name}` is {now}; it was {before}"


def _inside(tracers: str) -> str:
    return "no transformation" if tracers == "none" else tracers


def _values(name: str, now: str, nearest: str, earlier: Sequence[CompiledCall]) -> str:
    """Return the value in the call that is most alike, and those that the argument had besides."""
    had = [{**one.arguments, **one.static}.get(name) for one in earlier]
    others = list(dict.fromkeys(one for one in had if one not in {None, now, nearest}))
    if not others:
        return nearest
    left = len(others) - _MOST_VALUES
    more = f" and {left} more" if left > 0 else ""
    return f"{nearest}, and before {', '.join(map(str, others[:_MOST_VALUES]))}{more}"


_OUTSIDE = ""
"""In place of a test: what was compiled while modules were imported and tests collected."""


class _Program(msgspec.Struct):
    """One program, and how often it was compiled."""

    name: str
    seconds: list[float] = []
    """Time of XLA, each time."""
    tests: list[str] = []
    """Tests that it was compiled in, each once."""

    @property
    def n_again(self) -> int:
        """How often after the first time."""
        return len(self.seconds) - 1

    @property
    def again_s(self) -> float:
        """Seconds that all times but the slowest took."""
        return sum(self.seconds) - max(self.seconds)


class _CompileCost(msgspec.Struct):
    """Cost of compiling in the tests of one process, or of several."""

    by_test: dict[str, float] = {}
    """Seconds of tracing, lowering, compiling and reading from a cache on disk."""
    by_stage: dict[str, float] = {}
    programs: dict[str, _Program] = {}
    """By fingerprint."""
    n_compiled: int = 0
    n_unknown: int = 0
    """Compiled, and not to be told apart: not of JAX, or in a version that hides its programs."""
    n_read: int = 0
    """Programs that were read from a cache on disk."""
    failures: list[str] = []
    """Where watching itself has failed."""

    def add(self, test: str, calls: Iterable[CompiledCall]) -> None:
        """Add what was compiled in a test."""
        self.by_test.setdefault(test, 0.0)
        for one in calls:
            self.by_test[test] += one.total_s
            for stage, seconds in one.own_s.items():
                self.by_stage[stage] = self.by_stage.get(stage, 0.0) + seconds
            if one.compiled:
                self._add_program(test, one)

    def _add_program(self, test: str, call: CompiledCall) -> None:
        if call.hit:
            self.n_read += 1
            return
        self.n_compiled += 1
        if call.fingerprint is None:
            self.n_unknown += 1
            return
        program = self.programs.setdefault(call.fingerprint, _Program(call.name))
        program.seconds.append(call.own_s.get("compile", 0.0))
        if test not in program.tests:
            program.tests.append(test)

    def merge(self, other: _CompileCost) -> None:
        """Add the bill of another process."""
        for test, seconds in other.by_test.items():
            self.by_test[test] = self.by_test.get(test, 0.0) + seconds
        for stage, seconds in other.by_stage.items():
            self.by_stage[stage] = self.by_stage.get(stage, 0.0) + seconds
        for key, program in other.programs.items():
            mine = self.programs.setdefault(key, _Program(program.name))
            mine.seconds += program.seconds
            mine.tests += [test for test in program.tests if test not in mine.tests]
        self.n_compiled += other.n_compiled
        self.n_unknown += other.n_unknown
        self.n_read += other.n_read
        self.failures += [one for one in other.failures if one not in self.failures]

    @property
    def total_s(self) -> float:
        """Seconds of all tests, and of what came before them."""
        return sum(self.by_test.values())

    @property
    def n_tests(self) -> int:
        """Tests that ran."""
        return sum(test != _OUTSIDE for test in self.by_test)

    @property
    def repeated(self) -> list[_Program]:
        """Programs that were compiled more than once, the dearest first."""
        found = [one for one in self.programs.values() if one.n_again]
        return sorted(found, key=lambda one: -one.again_s)


_TITLE = "coldwarm: seconds of compiling"
_KEEP_ALL = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0"
"""By default JAX keeps programs alone that take a second to compile."""
_MOST_TESTS, _MOST_PROGRAMS = 10, 5
_STAGES = {
    "trace": "trace",
    "lower": "lower",
    "compile": "compile",
    "cache_read": "read",
}
_LEAST_S = 5e-4
"""Below it a stage is not reported."""


def _cost_lines(bill: _CompileCost, tests_s: float, missing: list[str]) -> Iterator[str]:
    """Yield what is printed at the end of a session.

    ``tests_s``: seconds of all tests, their fixtures included; ``missing``: workers that ended
    without telling their bill.
    """
    ranked = sorted(bill.by_test.items(), key=lambda item: -item[1])
    paid = [(test, seconds) for test, seconds in ranked if seconds > 0]
    for test, seconds in paid[:_MOST_TESTS]:
        yield f"{seconds:8.2f} s  {test or 'while modules were imported and tests collected'}"
    rest = paid[_MOST_TESTS:]
    if rest:
        seconds = sum(seconds for _, seconds in rest)
        yield f"{seconds:8.2f} s  in {counted(len(rest), 'other test')}"
    share = "" if missing else _of(bill, tests_s)
    yield f"{bill.total_s:8.2f} s  in {counted(bill.n_tests, 'test')}{share}"
    if bill.n_compiled or bill.n_read:
        yield f"            {_programs(bill)}"
    yield from _repeated(bill)
    yield from _saving(bill)
    for failure in bill.failures:
        yield f"watching itself has failed, and something may be missing here: {failure}"
    for worker in missing:
        yield f"worker {worker} has ended without its bill: what its tests compiled is missing"


def _of(bill: _CompileCost, tests_s: float) -> str:
    in_tests_s = bill.total_s - bill.by_test.get(_OUTSIDE, 0.0)
    if not tests_s:
        return ""
    return f", which took {duration(tests_s)}: {min(1.0, in_tests_s / tests_s):.0%} of it"


def _programs(bill: _CompileCost) -> str:
    parts = [
        f"{words} {duration(bill.by_stage[stage])}"
        for stage, words in _STAGES.items()
        if bill.by_stage.get(stage, 0.0) > _LEAST_S
    ]
    read = f" and {bill.n_read} read from a cache on disk" if bill.n_read else ""
    return f"{counted(bill.n_compiled, 'program')} compiled{read}: {', '.join(parts)}"


def _repeated(bill: _CompileCost) -> Iterator[str]:
    found = bill.repeated
    if not found:
        return
    n_again = sum(one.n_again for one in found)
    yield ""
    yield (
        f"Compiled more than once: {counted(len(found), 'program')},"
        f" {'once' if n_again == 1 else f'{n_again} times'} too often,"
        f" {duration(sum(one.again_s for one in found))}"
    )
    for one in found[:_MOST_PROGRAMS]:
        yield f"{one.again_s:8.2f} s  {one.name}, {len(one.seconds)} times{_where(one)}"
    if len(found) > _MOST_PROGRAMS:
        yield f"            … and {counted(len(found) - _MOST_PROGRAMS, 'other program')}"


def _where(one: _Program) -> str:
    first = one.tests[0] or "the collection"
    others = len(one.tests) - 1
    return f" in {first}" + (f" and {counted(others, 'other test')}" if others else "")


def _saving(bill: _CompileCost) -> Iterator[str]:
    """Say what a cache on disk would save, of which only the programs of JAX can be kept."""
    whole_s = sum(sum(one.seconds) for one in bill.programs.values())
    again_s = sum(one.again_s for one in bill.repeated)
    if not whole_s:
        return
    yield ""
    if bill.n_read:
        yield f"A cache on disk is in use: {counted(bill.n_read, 'program')} came from there."
        if again_s:
            yield "What was compiled more than once all the same it does not keep. To keep all:"
            yield f"    {_KEEP_ALL}"
        return
    yield (
        "A cache on disk that all tests and workers share would save at most"
        f" {duration(again_s)} of this run"
    )
    yield (
        f"and {duration(whole_s)} of each later one, less the time of reading. Tracing and"
        " lowering remain. To set it:"
    )
    yield f"    JAX_COMPILATION_CACHE_DIR=DIR {_KEEP_ALL}"


_TOLD = "coldwarm_bill"
"""Under which a worker tells its bill."""


class CompileCostPlugin:
    """The hooks of a session that has asked for its bill."""

    def __init__(self, config: pytest.Config) -> None:
        """Follow what is compiled, except where only the workers run tests."""
        self._bill = _CompileCost()
        self._missing: list[str] = []
        self._config = config
        self._runs = config.getoption("dist", "no") == "no" or hasattr(config, "workerinput")
        self._place = 0
        if self._runs:
            begin(fingerprints=True)
            self._place = now()

    def _take(self, test: str) -> None:
        """Put on the bill what was compiled since this was done last."""
        if self._runs:
            calls, self._place = since(self._place), now()
            if calls or test != _OUTSIDE:
                self._bill.add(test, calls)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Take what a test compiles, its fixtures included."""
        self._take(_OUTSIDE)
        try:
            return (yield)
        finally:
            self._take(item.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Tell the bill, where this is a worker."""
        self._take(_OUTSIDE)
        if self._runs:
            self._bill.failures = _failures()
        told = getattr(self._config, "workeroutput", None)
        if told is not None:
            told[_TOLD] = msgspec.to_builtins(self._bill)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the bill of a worker that ends."""
        told = getattr(node, "workeroutput", {}).get(_TOLD)
        if told is None:
            self._missing.append(str(node.gateway.id))
        else:
            self._bill.merge(msgspec.convert(told, _CompileCost))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the bill."""
        reports = [one for some in terminalreporter.stats.values() for one in some]
        tests_s = sum(one.duration for one in reports if type(one) is pytest.TestReport)
        terminalreporter.section(_TITLE)
        for line in _cost_lines(self._bill, tests_s, self._missing):
            terminalreporter.write_line(line)
