"""Values that the host reads in a loop: each waits until the device is done.

A program that asks an environment on the host, or draws there by what it has read, has to wait in
each turn. What goes back as it was read does not need to come to the host at all.
"""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.source_code import SourceFiles
    from coldwarm.doctor.trace import CountedLine, ProcessTrace, SourceLine


_READING = frozenset(
    (
        *("int", "float", "bool", "complex", "abs", "round", "min", "max", "item", "tolist"),
        *("array", "asarray", "device_get", "block_until_ready"),
    )
)
"""Calls after which a value is what was read still."""
_ARRAYS = frozenset({"array", "asarray", "device_get"})
"""Those of them after which it is a whole array of NumPy's."""
_ACTS = frozenset({"step"})
"""Methods that change what they belong to: an environment is asked for its state later."""
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)


def _decides(
    sources: SourceFiles, path: str, line: int, calls: Container[int], *, below: bool = False
) -> bool:
    """Say whether the host makes of what it reads at a line what compiled functions are given.

    ``calls`` are the lines of the loop which lead to calls of compiled functions; ``below``: it is
    read in a function that the line calls.
    """
    loop = sources.loop(path, line)
    if loop is None:
        return False
    rows = list(_statements(sources, path, *loop))
    at = [one for one in rows if _is_among(one, {line})]
    reading = [one for one in at if any(called(call) in _READING for call in _calls(one))]
    begin = next(iter(reading or at), None)
    if begin is None:
        return False
    read = _targets(begin)
    made = read if _is_made(begin, below=below, computes=_is_among(begin, calls)) else set()
    rest = [one for one in rows if one is not begin]
    _, made = _followed(rest, calls, read, made)
    return any(_gives(row, made) for row in rows if _is_among(row, calls))


def _steers(sources: SourceFiles, path: str, line: int, calls: Container[int]) -> bool:
    """Say whether the loop goes on by what it reads at a line: as a branch, or by what it gives.

    What is given on as it was read is no such thing: it need not come to the host.
    """
    first, last = sources.loop(path, line) or (0, 0)
    rows = list(_statements(sources, path, first, last))
    begin = next((one for one in rows if _is_among(one, {line})), None)
    read = _targets(begin) if begin is not None else set()
    rest = [one for one in rows if one is not begin]
    found, made = _followed(rest, calls, read, set())
    tests = [
        one.test
        for one in sources.nodes(path)
        if isinstance(one, (ast.If, ast.While)) and first <= one.lineno <= last
    ]
    if any(_loaded(test) & (found | made) or test.lineno == line for test in tests):
        return True
    return any(_gives(row, (found | made) - read) for row in rows if _is_among(row, calls))


def _followed(
    rows: Sequence[ast.stmt], calls: Container[int], read: set[str], made: set[str]
) -> tuple[set[str], set[str]]:
    """Return the names that come from what is read, and from what the host has made of that."""
    while True:
        more_read, more_made = set(read), set(made)
        for row in rows:
            _follow(row, more_read, more_made, compiled=_is_among(row, calls))
        if (more_read, more_made) == (read, made):
            return read, made
        read, made = more_read, more_made


def _statements(sources: SourceFiles, path: str, first: int, last: int) -> Iterator[ast.stmt]:
    """Yield the statements of a loop that contain no others."""
    for one in sources.nodes(path):
        if isinstance(one, _SIMPLE) and first <= one.lineno <= last:
            yield one


def _is_among(row: ast.stmt, numbers: Container[int]) -> bool:
    return any(at in numbers for at in range(row.lineno, (row.end_lineno or row.lineno) + 1))


def _is_made(row: ast.stmt, *, below: bool, computes: bool) -> bool:
    """Say whether a statement gives what it reads to a call of the host.

    Where it calls a compiled function too, that may be what is given something that was read: so
    what is read must be of a call then.
    """
    for outer in _calls(row):
        if called(outer) in _READING:
            continue
        for one in (inner for each in _given(outer) for inner in _calls(each)):
            is_read = below or called(one) in _READING
            if is_read and (below or not computes or len(list(_calls(one))) > 1):
                return True
    return False


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (one for one in ast.walk(node) if isinstance(one, ast.Call))


def _follow(row: ast.stmt, read: set[str], made: set[str], *, compiled: bool) -> None:
    """Add the names that a statement gives what comes from others."""
    if compiled or (value := getattr(row, "value", None)) is None:
        return
    loaded = _loaded(value)
    asked = [
        one
        for one in _calls(value)
        if called(one) not in _READING
        and any(_loaded(each) & (read | made) for each in _given(one))
    ]
    if asked or loaded & made:
        made |= _targets(row)
    elif loaded & read:
        read |= _targets(row)
    for one in asked:
        if isinstance(one.func, ast.Attribute) and one.func.attr in _ACTS:
            made.add(ast.unparse(one.func.value))


def _gives(row: ast.stmt, names: set[str]) -> bool:
    return any(_loaded(each) & names for one in _calls(row) for each in _given(one))


def _given(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (one.value for one in call.keywords)


def _targets(row: ast.stmt) -> set[str]:
    targets: Iterable[ast.expr] = getattr(row, "targets", None) or filter(
        None, [getattr(row, "target", None)]
    )
    return {
        ast.unparse(one)
        for target in targets
        for one in ast.walk(target)
        if isinstance(one, (ast.Name, ast.Attribute)) and isinstance(one.ctx, ast.Store)
    }


def _loaded(node: ast.AST) -> set[str]:
    """Return the variables and attributes that are taken, ``a`` and ``a.b`` of ``a.b.c`` too."""
    return {
        ast.unparse(one)
        for one in ast.walk(node)
        if isinstance(one, (ast.Name, ast.Attribute)) and isinstance(one.ctx, ast.Load)
    }


_REASONS = {
    "doctor_reads": "the loop reads from the device {n_reads:# time}; the program waited for"
    " it {n_waited:# time}, {blocked_s:time} in all, which is {each_s:time} a read",
    "doctor_reads_beside": "the loop reads from the device {n_reads:# time}; the program waited"
    " for it {n_waited:# time}, {blocked_s:time} in all, which is {each_s:time} a read; its other"
    " work in the loop, which could go on meanwhile, took {beside_s:time}",
    "doctor_reads_ready": "the loop reads from the device {n_reads:# time}, and"
    " {n_ready:# time} the value was ready: it hardly waits here, and with a device that"
    " works beside the host it would",
    "doctor_overlap": "how much of the work on the host could go on meanwhile is not known",
}
_CHANGES = {
    "host-sync-in-loop": "keep the values on the device and read them after the loop, or every so"
    " many steps",
}

_FEWEST = 20
_OFTEN = 0.5
"""Reads for each call of a compiled function in the same loop."""
_SELDOM = 0.05
"""Share of reads: where fewer of them waited, the loop does not wait."""
_FEWEST_OPERATIONS = 3
"""For each read, in a loop that calls nothing compiled."""
_LONG_S = 1e-3
"""Seconds of a read from which it waits for what is computed, and hardly for itself."""
_EACH_TURN = 0.9
"""Readings of a clock for each read, where every turn is timed."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each line of a loop that reads from the device in nearly every turn."""
    for one in trace.places_of("read"):
        turned = trace.turned(one.stack)
        n = _n_reads(trace, one, turned) if turned is not None else 0
        if turned is None or n < _FEWEST or is_needed(trace, one, turned, n):
            continue
        if is_handed_over(trace, one.stack, turned) or _is_given_back(trace, one.site, turned):
            continue  # who calls it needs the value
        n_waited, blocked_s = min(n, one.counts[1]), one.counts[2] / 1e9
        lines = _lines_of_calls(trace, turned)
        is_long = blocked_s >= _LONG_S * n
        if is_long and _steers(trace.sources, turned.path, turned.line, lines):
            continue
        says, cost_s = _says(n, n_waited, blocked_s, _beside_s(trace, turned))
        yield trace.finding(
            "host-sync-in-loop",
            one.site,
            says,
            n=n,
            cost_s=cost_s,
            no_cost=because("doctor_few_waits") if cost_s is None else None,
            no_saving=because("doctor_overlap"),
        )


def is_handed_over(trace: ProcessTrace, stack: Sequence[SourceLine], turned: SourceLine) -> bool:
    """Say whether a line gives a function to another one, such as SciPy's, that calls it."""
    return any(
        _is_given(trace.sources.calls_at(outer.path, outer.line), inner.function)
        for inner, outer in pairwise(stack[: stack.index(turned) + 1])
    )


def _is_given_back(trace: ProcessTrace, site: SourceLine, turned: SourceLine) -> bool:
    """Say whether a function that a loop calls gives back what it makes of arrays of NumPy."""
    statement = trace.sources.statement(site.path, site.line)
    calls = trace.sources.calls_at(site.path, site.line)
    around = trace.sources.functions_around(site.path, site.line)
    is_array = any(called(one) in _ARRAYS for one in calls)
    if site == turned or statement is None or not around or not is_array:
        return False
    returned = [one for one in ast.walk(around[0]) if isinstance(one, ast.Return)]
    made = _targets(statement)
    return statement in returned or any(_loaded(one) & made for one in returned)


def _is_given(calls: Sequence[ast.Call], function: str) -> bool:
    """Say whether a function is among the arguments of calls, and not what they call."""
    name = function.rpartition(".")[2]
    functions = {id(one.func) for one in calls}
    given = [each for one in calls for each in (*one.args, *(each.value for each in one.keywords))]
    return any(
        id(one) not in functions and name in {getattr(one, "id", None), getattr(one, "attr", None)}
        for each in given
        for one in ast.walk(each)
    )


def _beside_s(trace: ProcessTrace, turned: SourceLine) -> float | None:
    """Return what the program did in a loop besides waiting; ``None``: nobody has looked."""
    if not trace.spent:
        return None
    whole_s = sum(seconds for _, seconds in trace.spent_in(turned))
    reads = [one for one in trace.places_of("read") if trace.lines_within(one, turned)]
    return max(0.0, whole_s - sum(one.counts[2] for one in reads) / 1e9)


def _says(
    n: int, n_waited: int, blocked_s: float, beside_s: float | None
) -> tuple[Reason, float | None]:
    """Return what is said of reads, and what they cost; ``None``: that is not known.

    Where few of them waited, that may have been for the program's first runs, which something
    waits for in any case. To wait costs as much as could be done meanwhile.
    """
    if n_waited < _SELDOM * n:
        ready = because("doctor_reads_ready", n_reads=n, n_ready=n - n_waited)
        return ready, None if n_waited else blocked_s
    counted = {"n_reads": n, "n_waited": n_waited, "blocked_s": blocked_s, "each_s": blocked_s / n}
    if beside_s is None:
        return because("doctor_reads", **counted), blocked_s
    reads = because("doctor_reads_beside", **counted, beside_s=beside_s)
    return reads, min(blocked_s, beside_s)


def _n_reads(trace: ProcessTrace, one: CountedLine, turned: SourceLine) -> int:
    """Return how often a loop that computes reads, where that is for every call or two; else 0.

    What is read with no call of a compiled function in between is read at once: the leaves of a
    tree, a dictionary of metrics. A loop that only takes an array apart, for a plot or a table,
    computes nothing.
    """
    n_compiled = trace.n_below(turned, "jitted")
    if n_compiled:
        n = one.counts[3]
        return n if n >= _OFTEN * n_compiled else 0
    n_operations = trace.n_below(turned, "operation", "concatenation")
    return one.n if n_operations >= _FEWEST_OPERATIONS * one.n else 0


def is_needed(trace: ProcessTrace, one: CountedLine, turned: SourceLine, n: int) -> bool:
    """Say whether the program can't go on without what it reads, or times how long it takes."""
    if _is_timed(trace, turned, n):
        return True
    calls = _lines_of_calls(trace, turned)
    return _decides(trace.sources, turned.path, turned.line, calls, below=turned != one.site)


def _lines_of_calls(trace: ProcessTrace, turned: SourceLine) -> set[int]:
    """Return the lines of a loop which lead to calls of compiled functions."""
    places = trace.places_of("jitted")
    return {line for each in places for line in trace.lines_within(each, turned)}


def _is_timed(trace: ProcessTrace, turned: SourceLine, n: int) -> bool:
    """Say whether every turn is timed, and the read is what makes the clock wait."""
    clocks = [
        one.site
        for one in trace.places_of("clock")
        if one.n >= _EACH_TURN * n and one.site.line in trace.lines_within(one, turned)
    ]
    begun = any(one.line <= turned.line for one in clocks) or len(clocks) == 1
    return begun and any(
        one.line >= turned.line and trace.sources.ends_interval(one.path, one.line)
        for one in clocks
    )


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
    short={"host-sync": "host-sync-in-loop"},
)
