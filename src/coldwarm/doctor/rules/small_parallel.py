"""Functions of Numba that start threads for so little that starting them takes longest."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called, extent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace


_REASONS = {
    "doctor_parallel_calls": "{function} is compiled with parallel=True, and starts threads in"
    " each of {n_calls:# call}, which take {each_s:time} on average",
    "doctor_parallel_turns": "{function} is compiled with parallel=True, and starts threads for"
    " {n_turns:# turn} of this prange loop, again in each turn of the loop around it; about"
    " {spent_s:time} were spent in calls of it",
}
_CHANGES = {
    "numba-parallel-small": "leave parallel=True out, or move prange to the outermost loop whose"
    " turns do not need each other: starting threads takes some microseconds each time",
}
_SHORT_S, _MANY = 2e-5, 1000
"""Longest call that is mostly the start of threads, and fewest such calls."""
_FEW_TURNS = 512
"""Most turns of a loop without loops in it that are done sooner than threads start."""
_MATH = {"np", "numpy", "math"}
_LOOPS = (ast.For, ast.While, ast.ListComp)


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each such function once."""
    done: set[tuple[str | None, int | None]] = set()
    for call in trace.calls:
        key = call.function.path, call.function.line
        if call.framework == "numba" and call.given is not None and key not in done:
            done.add(key)
            yield from _calls(trace, call) or _turns(trace, call)


def _calls(trace: ProcessTrace, call: CompiledCall) -> list[Finding]:
    """Name short calls from a loop of Python's."""
    if not _runs_parallel(trace, call):
        return []
    places = [one for one in trace.places_of("numba") if one.name == call.short_name]
    for place in sorted(places, key=lambda one: -one.n):
        if place.n < _MANY or not trace.in_loop(place.stack):
            continue
        spent_s = _spent_s(trace, place.site.path, place.site.line)
        if trace.is_worth(spent_s) and spent_s <= _SHORT_S * place.n:
            told = {"n_calls": place.n, "each_s": spent_s / place.n}
            says = because("doctor_parallel_calls", function=call.name, **told)
            return [_finding(trace, place.site.path, place.site.line, says)]
    return []


def _turns(trace: ProcessTrace, call: CompiledCall) -> list[Finding]:
    """Name a short prange loop inside of another loop."""
    path = call.function.path or ""
    function = trace.sources.function(path, call.function.line or 0)
    if function is None:
        return []
    sites = {one.site for one in trace.places_of("numba") if one.name == call.short_name}
    sites |= {call.site} if call.site is not None else set()
    spent_s = sum(_spent_s(trace, one.path, one.line) for one in sites)
    if not trace.is_worth(spent_s):
        return []
    for loop in _inner_loops(function):
        n_turns = _n_turns(function, loop, call.given or {})
        if n_turns is not None and n_turns <= _FEW_TURNS:
            told = {"n_turns": n_turns, "spent_s": spent_s}
            says = because("doctor_parallel_turns", function=call.name, **told)
            return [_finding(trace, path, loop.lineno, says)]
    return []


def _finding(trace: ProcessTrace, path: str, line: int, says: Reason) -> Finding:
    return trace.finding(
        "numba-parallel-small",
        trace.line_at(path, line),
        says,
        framework="numba",
        no_figure=because("doctor_depends"),
    )


def _spent_s(trace: ProcessTrace, path: str, line: int) -> float:
    return sum(
        seconds
        for spot, seconds in trace.spent
        if (spot.stack[0].path, spot.stack[0].line) == (path, line)
    )


def _runs_parallel(trace: ProcessTrace, call: CompiledCall) -> bool:
    """Say whether a function has a loop that runs in threads, as it is written."""
    function = trace.sources.function(call.function.path or "", call.function.line or 0)
    return function is not None and any(map(_is_prange, ast.walk(function)))


def _is_prange(node: ast.AST) -> bool:
    made = node.iter if isinstance(node, ast.For) else None
    return isinstance(made, ast.Call) and called(made) == "prange"


def _inner_loops(function: Function) -> Iterator[ast.For]:
    """Yield prange loops that are inside of a serial loop, and do little in each turn."""
    serial = [one for one in ast.walk(function) if isinstance(one, _LOOPS) and not _is_prange(one)]
    parallel = [one for one in ast.walk(function) if isinstance(one, ast.For) and _is_prange(one)]
    for loop in parallel:
        if any(_contains(other, loop) for other in parallel if other is not loop):
            continue  # Numba runs it in the thread of the outer one
        if any(_contains(outer, loop) for outer in serial) and _does_little(loop):
            yield loop


def _contains(outer: ast.AST, inner: ast.AST) -> bool:
    around, within = extent(outer), extent(inner)
    if around is None or within is None or outer is inner:
        return False
    return around[0] <= within[0] and within[1] <= around[1]


def _does_little(loop: ast.For) -> bool:
    """Say whether a loop has no other loop in it, and calls functions of single numbers alone."""
    inside = [one for each in loop.body for one in ast.walk(each)]
    calls = [one for one in inside if isinstance(one, ast.Call)]
    return not any(isinstance(one, _LOOPS) for one in inside) and all(
        ast.unparse(one.func).partition(".")[0] in {*_MATH, "abs", "min", "max", "int", "float"}
        for one in calls
    )


def _n_turns(function: Function, loop: ast.For, given: Mapping[str, list[int]]) -> int | None:
    """Return the turns of a loop, for the arguments of the first call; ``None``: not known."""
    arguments = loop.iter.args if isinstance(loop.iter, ast.Call) else []
    known: dict[str, int] = {}
    for name, sizes in given.items():
        known |= {f"{name}.shape[{at}]": size for at, size in enumerate(sizes)}
        if sizes:
            known[f"len({name})"] = sizes[0]
        if len(sizes) == 1:  # of an array, or an integer
            known |= {name: sizes[0], f"{name}.size": sizes[0]}
    return _value(function, arguments[-1], known) if arguments else None


def _value(
    function: Function, node: ast.expr | None, known: Mapping[str, int], depth: int = 3
) -> int | None:
    """Return an integer that an expression is; at most, where something is taken from it."""
    found = known.get(ast.unparse(node)) if node is not None else None
    if found is not None or not depth:
        return found
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return _value(function, _made(function, name), known, depth - 1)
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant()):
            return _value(function, left, known, depth - 1)
    return None


def _made(function: Function, name: str) -> ast.expr | None:
    """Return what a variable is, where it is stored once."""
    found: list[ast.expr | None] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id == name:
                    found.append(node.value)
                elif isinstance(target, ast.Tuple) and name in map(ast.unparse, target.elts):
                    found.append(_part(target, name, node.value))
        elif isinstance(node, (ast.AugAssign, ast.For)) and ast.unparse(node.target) == name:
            found.append(None)
    return found[0] if len(found) == 1 else None


def _part(target: ast.Tuple, name: str, value: ast.expr) -> ast.expr | None:
    """Return the part of ``n, m = x.shape`` that a name is."""
    if not isinstance(value, ast.Attribute) or value.attr != "shape":
        return None
    at = [ast.unparse(one) for one in target.elts].index(name)
    return ast.parse(f"{ast.unparse(value)}[{at}]", mode="eval").body


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
