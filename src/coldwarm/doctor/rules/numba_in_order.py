"""Loops of compiled functions of Numba's that go one after the other, and need not.

A sum of floats keeps the order of its additions unless the compiler may change it; a loop over
``range`` runs in one thread. Read from the source of functions that were compiled.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.rules.numba_small_arrays import dear_functions, loops
from coldwarm.doctor.rules.small_parallel import decorators, is_parallel
from coldwarm.doctor.source_code import called, stored, variables
from coldwarm.doctor.trace import NumbaWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace


_REASONS = {
    "doctor_sum_in_order": "the innermost loop of {function}, which is compiled, adds to"
    " `{variable}`: sums of floats keep the order of their additions, so that the processor cannot"
    " do several at once; about {spent_s:time} were spent in calls of {function}",
    "doctor_range_parallel": "{function} is compiled with parallel=True, but this loop is over"
    " range, and runs in one thread: its turns write places of their own; about {spent_s:time}"
    " were spent in calls of {function}",
}
_CHANGES = {
    "numba-sum-in-order": 'let the compiler change the order: fastmath={"reassoc", "nsz"}, which'
    " may change the last digits; for a sum of products of two arrays, numpy.dot",
    "numba-range-parallel": "write numba.prange for range",
}
_SHORT = 16
"""Turns, below which doing several at once saves little."""
_SIMPLE = frozenset(("range", "abs", "min", "max", "int", "float", "len"))
_MODULES = ("math.", "np.", "numpy.")


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each such loop once."""
    warned = {(one.path, one.line) for one in trace.rows_of(NumbaWarning)}
    done: set[int] = set()
    for call, function, spent_s in dear_functions(trace):
        if id(function) in done:
            continue
        done.add(id(function))
        told: dict[str, str | float] = {"function": call.name, "spent_s": spent_s}
        path = call.function.path or ""
        total = None if _may_reorder(decorators(trace, function)) else _sum(function, call)
        if total is not None:
            line, variable = total
            says = because("doctor_sum_in_order", variable=variable, **told)
            yield _finding(trace, "numba-sum-in-order", (path, line), says)
        lines = range(function.lineno - len(function.decorator_list), function.lineno + 1)
        if is_parallel(trace, function) and not any((path, one) in warned for one in lines):
            for loop in _serial(function):
                says = because("doctor_range_parallel", **told)
                yield _finding(trace, "numba-range-parallel", (path, loop.lineno), says)


def _finding(trace: ProcessTrace, pattern: str, at: tuple[str, int], says: Reason) -> Finding:
    figure = because("doctor_depends")
    site = trace.line_at(*at)
    return trace.finding(pattern, site, says, framework="numba", no_figure=figure)


def _may_reorder(decorators_: Sequence[ast.expr]) -> bool:
    """Say whether a function is compiled with ``fastmath``, or so that its source does not tell."""
    for one in decorators_:
        made = one.func if isinstance(one, ast.Call) else one
        options = one.keywords if isinstance(one, ast.Call) else []
        is_jit = ast.unparse(made).rpartition(".")[2] in {"njit", "jit"}
        if not is_jit or any(each.arg in {"fastmath", None} for each in options):
            return True
    return False


def _sum(function: Function, call: CompiledCall) -> tuple[int, str] | None:
    """Return the line and variable of the sum that a function's one innermost loop makes."""
    loop = _innermost(function)
    if loop is None or not isinstance(loop.target, ast.Name):
        return None
    sums = [
        (one, name)
        for one in loop.body
        if isinstance(one, ast.AugAssign) and (name := _added_to(one))
    ]
    others = [one for one in loop.body if not _added_to(one)]
    made = {name for one in others for name in stored(one)}
    if not all(isinstance(one, ast.Assign) and _is_arithmetic(one.value) for one in others):
        return None
    read = [each for part in loop.body for each in _read(part)]
    for one, name in sums:
        used = {each for part in loop.body for each in _used(part) if part is not one}
        is_own = name not in made | used | variables(one.value)
        if is_own and _is_arithmetic(one.value) and _go_along(read, loop.target.id, call):
            return one.lineno, name
    return None


def _innermost(function: Function) -> ast.For | None:
    """Return the loop over ``range`` that is deeper than any other, if it may have many turns."""
    depths = dict(loops(function, 0))
    deepest = [one for one, depth in depths.items() if depth == max(depths.values())]
    loop = deepest[0] if len(deepest) == 1 else None
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return None
    return loop if called(loop.iter) == "range" and not _is_short(loop.iter) else None


def _added_to(statement: ast.stmt) -> str:
    """Return the variable that a statement adds to, or takes from; empty: it is no such."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub()):
            return name
    return ""


def _is_short(given: ast.Call) -> bool:
    last = given.args[min(1, len(given.args) - 1)] if given.args else None
    value = last.value if isinstance(last, ast.Constant) else _SHORT
    return isinstance(value, int) and value < _SHORT


def _is_arithmetic(node: ast.expr) -> bool:
    """Say whether an expression is sums and products of elements and variables, and no more."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    divided = any(
        isinstance(one, ast.BinOp) and not isinstance(one.op, (ast.Add, ast.Sub, ast.Mult))
        for one in ast.walk(node)
    )
    chosen = any(isinstance(one, (ast.Compare, ast.IfExp, ast.Slice)) for one in ast.walk(node))
    return not divided and not chosen and all(ast.unparse(one.func) == "abs" for one in calls)


def _read(node: ast.AST) -> Iterator[ast.Subscript]:
    """Yield the elements that code reads."""
    for one in ast.walk(node):
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load):
            yield one


def _go_along(read: Sequence[ast.Subscript], turning: str, call: CompiledCall) -> bool:
    """Say whether elements lie side by side from turn to turn, of long arrays of floats."""
    floats = 0
    for one in read:
        places = one.slice.elts if isinstance(one.slice, ast.Tuple) else [one.slice]
        if any(isinstance(each, ast.Subscript) for place in places for each in ast.walk(place)):
            return False
        if not any(turning in variables(place) for place in places):
            continue
        is_last = not any(turning in variables(place) for place in places[:-1])
        name = ast.unparse(one.value)
        kind, sizes = call.arguments.get(name, ""), (call.given or {}).get(name, [])
        if not is_last or not kind.startswith("array(float") or (sizes and sizes[-1] < _SHORT):
            return False
        floats += 1
    return floats > 0


def _serial(function: Function) -> Iterator[ast.For]:
    """Yield outermost loops over ``range`` whose turns could go side by side.

    Only in a function in which a loop is inside of them: else starting threads may take longer.
    """
    for loop in _outermost(function.body):
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
            continue
        is_range = isinstance(loop.iter, ast.Call) and ast.unparse(loop.iter.func) == "range"
        has_inner = any(isinstance(one, (ast.For, ast.While)) for one in _inside(loop))
        if is_range and has_inner and _are_apart(loop, loop.target.id):
            yield loop


def _outermost(body: Iterable[ast.stmt]) -> Iterator[ast.For | ast.While]:
    for one in body:
        if isinstance(one, (ast.For, ast.While)):
            yield one
        elif isinstance(one, (ast.If, ast.With)):
            yield from _outermost([*one.body, *getattr(one, "orelse", [])])


def _inside(loop: ast.For) -> list[ast.AST]:
    return [one for part in loop.body for one in ast.walk(part)]


def _are_apart(loop: ast.For, turning: str) -> bool:
    """Say whether each turn writes elements of its own, and nothing that another turn reads."""
    inside = _inside(loop)
    calls = [one for one in inside if isinstance(one, ast.Call)]
    if any(isinstance(one, (ast.Break, ast.Return, ast.While)) for one in inside):
        return False
    if not all(_is_harmless(one) for one in calls):
        return False
    stores = [
        one for one in inside if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)
    ]
    if not stores or not all(_is_at(one, turning) for one in stores):
        return False
    written = {ast.unparse(one.value) for one in stores}
    reads = [one for one in inside if isinstance(one, ast.Subscript) and one not in stores]
    own = all(_is_at(one, turning) for one in reads if ast.unparse(one.value) in written)
    kept = {name for part in loop.body for name in stored(part)}
    return own and _set_by(loop.body, kept, {turning}) is not None


def _is_harmless(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    draws = "random" in name
    return not draws and (name in _SIMPLE or name.startswith(_MODULES))


def _is_at(one: ast.Subscript, turning: str) -> bool:
    """Say whether the first place of an element is the number of the turn."""
    first = one.slice.elts[0] if isinstance(one.slice, ast.Tuple) else one.slice
    return isinstance(first, ast.Name) and first.id == turning


def _set_by(body: Sequence[ast.stmt], kept: set[str], begun: set[str]) -> set[str] | None:
    """Return the variables that are set after statements; ``None``: one is used before that.

    ``kept`` are those that a turn stores, ``begun`` those that it has set before.
    """
    begun = set(begun)
    for one in body:
        inner = begun
        if isinstance(one, ast.For):
            inner = begun | variables(one.target)
        parts = [one.test] if isinstance(one, ast.If) else [one]
        parts = [one.iter] if isinstance(one, ast.For) else parts
        used = {name for part in parts for name in _used(part)}
        if used & kept - begun:
            return None
        for branch in [one.body, one.orelse] if isinstance(one, (ast.For, ast.If)) else []:
            if _set_by(branch, kept, inner) is None:
                return None
        if isinstance(one, (ast.Assign, ast.AnnAssign)):
            begun |= stored(one)
    return begun


def _used(part: ast.AST) -> set[str]:
    """Return the variables that code reads; those that it adds to are among them."""
    read = {
        one.id
        for one in ast.walk(part)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
    }
    return read | (stored(part.target) if isinstance(part, ast.AugAssign) else set())


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
