"""Functions of Numba that start threads for so little that starting them takes longest."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called, extent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace, SourceLine


_REASONS = {
    "doctor_parallel_calls": "{function} is compiled with parallel=True, and starts threads for"
    " {n_turns:# turn} in each of {n_calls:# call}; about {spent_s:time} were spent in them and in"
    " compiling it",
    "doctor_parallel_turns": "threads are started for {n_turns:# turn} of this prange loop, again"
    " in each turn of the loop around it; about {spent_s:time} were spent in calls of {function}",
}
_CHANGES = {
    "numba-parallel-small": "leave parallel=True out, or move prange to the outermost loop whose"
    " turns do not need each other: starting threads takes some microseconds each time",
}
_MANY = 1000
"""Fewest calls from Python that are named."""
_FEW_TURNS = 512
"""Most turns of a loop without loops in it that are done sooner than threads start."""
_DEPTH = 2
"""Functions without threads through which a loop may lead to one with threads."""
_OF_NUMBERS = {"np", "numpy", "math", "abs", "min", "max", "int", "float"}
_LOOPS = (ast.For, ast.While, ast.ListComp)


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each such loop, or function, once."""
    done: set[SourceLine] = set()
    for call in trace.calls:
        function = trace.sources.function(call.function.path or "", call.function.line or 0)
        if call.framework != "numba" or call.given is None or function is None:
            continue
        known = _known(call.given)
        for site, says in (*_calls(trace, call, function, known), *_turns(trace, call, function)):
            if site not in done:
                done.add(site)
                depends = because("doctor_depends")
                yield trace.finding(
                    "numba-parallel-small", site, says, framework="numba", no_figure=depends
                )


def _calls(
    trace: ProcessTrace, call: CompiledCall, function: Function, known: Mapping[str, int]
) -> Iterator[tuple[SourceLine, Reason]]:
    """Yield where a loop of Python's calls a function whose threads have little to do."""
    loops = [one for one in ast.walk(function) if _is_prange(one)]
    n_turns = [_few_turns(function, one, known) for one in loops]
    if not is_parallel(trace, function) or not loops or None in n_turns:
        return
    places = [one for one in trace.places_of("numba") if one.name == call.short_name]
    for place in places:
        spent_s = trace.spent_at([place.site]) + call.total_s
        if place.n >= _MANY and trace.in_loop(place.stack) and trace.is_worth(spent_s):
            most = max(one for one in n_turns if one is not None)
            told = {"n_calls": place.n, "n_turns": most, "spent_s": spent_s}
            yield place.site, because("doctor_parallel_calls", function=call.name, **told)


def _turns(
    trace: ProcessTrace, call: CompiledCall, function: Function
) -> Iterator[tuple[SourceLine, Reason]]:
    """Yield short prange loops in the turns of a serial loop, also of functions that it calls."""
    sites = {one.site for one in trace.places_of("numba") if one.name == call.short_name}
    spent_s = trace.spent_at(sites | ({call.site} if call.site is not None else set()))
    if not trace.is_worth(spent_s):
        return
    for path, inner, known, is_itself in _repeated(trace, call, function):
        for loop in ast.walk(inner):
            if _is_prange(loop) and (not is_itself or _is_within(inner, loop)):
                n_turns = _few_turns(inner, loop, known)
                if n_turns is not None and not _is_in_prange(inner, loop):
                    told = {"n_turns": n_turns, "spent_s": spent_s}
                    says = because("doctor_parallel_turns", function=call.name, **told)
                    yield trace.line_at(path, loop.lineno), says
                    break


def _repeated(
    trace: ProcessTrace, call: CompiledCall, function: Function
) -> Iterator[tuple[str, Function, Mapping[str, int], bool]]:
    """Yield functions with threads that a call runs again and again, with what is known there.

    That is the function itself, whose loops are to be in a serial one (``True``), and those that a
    serial loop of it calls.
    """
    known = _known(call.given or {})
    if is_parallel(trace, function):
        yield call.function.path or "", function, known, True
    inside = [one for one in _calls_in(function) if _is_within(function, one)]
    yield from _reached(trace, function, known, inside)


def _reached(
    trace: ProcessTrace,
    function: Function,
    known: Mapping[str, int],
    calls: Sequence[ast.Call],
    depth: int = _DEPTH,
) -> Iterator[tuple[str, Function, Mapping[str, int], bool]]:
    """Yield the functions with threads that calls lead to, also through functions without."""
    for path in trace.sources.paths if calls else ():
        for other in trace.sources.nodes(path):
            if not isinstance(other, ast.FunctionDef) or other is function:
                continue
            for call in (one for one in calls if called(one) == other.name):
                passed = _passed(function, known, other, call)
                if is_parallel(trace, other):
                    yield path, other, passed, False
                elif depth:
                    yield from _reached(trace, other, passed, _calls_in(other), depth - 1)


def _calls_in(function: Function) -> list[ast.Call]:
    return [one for one in ast.walk(function) if isinstance(one, ast.Call)]


def _passed(
    function: Function, known: Mapping[str, int], other: Function, call: ast.Call
) -> Mapping[str, int]:
    """Return what is known of the arguments that a call gives to another function."""
    found: dict[str, int] = {}
    for parameter, given in zip(other.args.args, call.args, strict=False):
        name = ast.unparse(given)
        for written, value in known.items():
            if written == name or written.startswith((f"{name}.", f"len({name})")):
                found[written.replace(name, parameter.arg, 1)] = value
        number = _value(function, given, known)
        if number is not None:
            found[parameter.arg] = number
    return found


def is_parallel(trace: ProcessTrace, function: Function) -> bool:
    """Say whether a function is compiled with ``parallel=True``, by its decorators."""
    return any(
        isinstance(one, ast.Call)
        and any(k.arg == "parallel" and ast.unparse(k.value) == "True" for k in one.keywords)
        for one in decorators(trace, function)
    )


def decorators(trace: ProcessTrace, function: Function) -> list[ast.expr]:
    """Return the decorators of a function; for one with a name of the program's, what it is.

    That is a call whose result was given the name, or which ``partial`` has put off.
    """
    return [_named(trace, one) or one for one in function.decorator_list]


def _named(trace: ProcessTrace, decorator: ast.expr) -> ast.Call | None:
    name = ast.unparse(decorator).rpartition(".")[2]
    for path in trace.sources.paths:
        for node in trace.sources.nodes(path):
            value = node.value if isinstance(node, ast.Assign) else None
            if not isinstance(value, ast.Call) or not isinstance(node, ast.Assign):
                continue
            if name in {one.id for one in node.targets if isinstance(one, ast.Name)}:
                func, given = value.func, value.args
                if called(value) == "partial" and given:
                    func, *given = given
                return ast.Call(func=func, args=given, keywords=value.keywords)
    return None


def _is_prange(node: ast.AST) -> TypeGuard[ast.For]:
    made = node.iter if isinstance(node, ast.For) else None
    return isinstance(made, ast.Call) and called(made) == "prange"


def _is_within(function: Function, inner: ast.AST) -> bool:
    """Say whether something is inside of a serial loop."""
    return any(
        isinstance(one, _LOOPS) and not _is_prange(one) and _contains(one, inner)
        for one in ast.walk(function)
    )


def _is_in_prange(function: Function, loop: ast.For) -> bool:
    """Say whether a loop is inside of another prange loop: Numba runs it in one thread then."""
    return any(_is_prange(one) and _contains(one, loop) for one in ast.walk(function))


def _contains(outer: ast.AST, inner: ast.AST) -> bool:
    around, within = extent(outer), extent(inner)
    if around is None or within is None or outer is inner:
        return False
    return around[0] <= within[0] and within[1] <= around[1]


def _few_turns(function: Function, loop: ast.For, known: Mapping[str, int]) -> int | None:
    """Return the turns of a loop where they are few, and each does little; else ``None``.

    Little is: no other loop, and calls of functions of single numbers alone.
    """
    inside = [one for each in loop.body for one in ast.walk(each)]
    calls = [one for one in inside if isinstance(one, ast.Call)]
    of_numbers = all(ast.unparse(one.func).partition(".")[0] in _OF_NUMBERS for one in calls)
    if not of_numbers or any(isinstance(one, _LOOPS) for one in inside):
        return None
    arguments = loop.iter.args if isinstance(loop.iter, ast.Call) else []
    n = _value(function, arguments[-1], known) if arguments else None
    return n if n is not None and n <= _FEW_TURNS else None


def _known(given: Mapping[str, list[int]]) -> dict[str, int]:
    """Return the integers that sizes of arrays, and values, of the first call stand for."""
    known: dict[str, int] = {}
    for name, sizes in given.items():
        known |= {f"{name}.shape[{at}]": size for at, size in enumerate(sizes)}
        if sizes:
            known[f"len({name})"] = sizes[0]
        if len(sizes) == 1:  # of an array, or an integer
            known |= {name: sizes[0], f"{name}.size": sizes[0]}
    return known


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
