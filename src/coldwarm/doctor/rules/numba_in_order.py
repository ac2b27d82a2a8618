"""Loops of compiled functions of Numba's that go one after the other, and need not.

A sum of floats keeps the order of its additions unless the compiler may change it; a loop over
``range`` runs in one thread. Read from the source of functions that were compiled.
"""

from __future__ import annotations

import ast
import re
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
_LONG_CALL_S = 1e-3
"""Shortest call that is worth starting threads for."""
_OF_NUMBERS = frozenset(("abs", "min", "max", "int", "float", "len", "range", "prange"))
_MAKERS = frozenset(("zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like"))
_SCALARS = frozenset(
    ("sqrt", "exp", "log", "sin", "cos", "tan", "abs", "floor", "hypot", "arctan2")
)
_NUMPY = ("np.", "numpy.")
_KIND = re.compile(r"array\((?P<kind>\w+), (?P<n>\d+)d, C\)")


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
        is_warned = any((path, one) in warned for one in lines)
        if is_parallel(trace, function) and not is_warned and _is_long(trace, call, spent_s):
            for loop in _serial(function, call):
                says = because("doctor_range_parallel", **told)
                yield _finding(trace, "numba-range-parallel", (path, loop.lineno), says)


def _finding(trace: ProcessTrace, pattern: str, at: tuple[str, int], says: Reason) -> Finding:
    figure = because("doctor_depends")
    site = trace.line_at(*at)
    return trace.finding(pattern, site, says, framework="numba", no_figure=figure)


def _is_long(trace: ProcessTrace, call: CompiledCall, spent_s: float) -> bool:
    """Say whether a call of a function takes long, as far as its calls were counted."""
    n = sum(one.n for one in trace.places_of("numba") if one.name == call.short_name)
    return spent_s / max(1, n) >= _LONG_CALL_S


def _may_reorder(decorators_: Sequence[ast.expr]) -> bool:
    """Say whether a function is compiled with ``fastmath``, or so that its source does not tell."""
    for one in decorators_:
        made = one.func if isinstance(one, ast.Call) else one
        options = one.keywords if isinstance(one, ast.Call) else []
        is_jit = ast.unparse(made).rpartition(".")[2] in {"njit", "jit"}
        if not is_jit or any(each.arg in {"fastmath", None} for each in options):
            return True
    return not decorators_


def _sum(function: Function, call: CompiledCall) -> tuple[int, str] | None:
    """Return the line and variable of the sum that a function's one innermost loop makes.

    Only where the function calls nothing else that may take long, and no other variable goes from
    turn to turn: then each turn waits for that one, too.
    """
    loop = _innermost(function, call)
    if loop is None or not isinstance(loop.target, ast.Name) or not _is_plain(function):
        return None
    sums = {name: one for one in loop.body if (name := _added_to(one))}
    others = [one for one in loop.body if not _added_to(one)]
    made = {name for one in others for name in stored(one)}
    if not all(_is_of_turn(one) for one in others):
        return None
    if _set_by(others, made, {loop.target.id}) is None:
        return None
    read = [each for part in loop.body for each in _read(part)]
    for name, one in sums.items():
        value = _value(one)
        used = {each for part in loop.body if part is not one for each in _used(part)}
        is_own = name not in made | used and not variables(value) & set(sums) - {name}
        is_of_data = bool([*_read(value)]) or bool(variables(value) & made)
        floats = _is_arithmetic(value) and _go_along(read, loop.target.id, call)
        if is_own and is_of_data and floats:
            return one.lineno, name
    return None


def _is_of_turn(statement: ast.stmt) -> bool:
    """Say whether a statement computes a variable of the turn, by sums and products."""
    is_name = isinstance(statement, ast.Assign) and all(
        isinstance(one, ast.Name) for one in statement.targets
    )
    return is_name and isinstance(statement, ast.Assign) and _is_arithmetic(statement.value)


def _innermost(function: Function, call: CompiledCall) -> ast.For | None:
    """Return the loop over ``range`` that is deeper than any other, if it may have many turns."""
    depths = dict(loops(function, 0))
    deepest = [one for one, depth in depths.items() if depth == max(depths.values())]
    loop = deepest[0] if len(deepest) == 1 else None
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return None
    is_range = called(loop.iter) == "range" and len(loop.iter.args) <= _TWO
    return loop if is_range and not _is_short(loop.iter, call) else None


_TWO = 2
"""Arguments of a range that goes one by one."""


def _added_to(statement: ast.stmt) -> str:
    """Return the variable that a statement adds to, or takes from; empty: it is no such."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub()):
            return name
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.Name(id=left), op=ast.Add())
        ) if name == left:
            return name
    return ""


def _value(statement: ast.stmt) -> ast.expr:
    """Return what is added."""
    match statement:
        case ast.AugAssign(value=value) | ast.Assign(value=ast.BinOp(right=value)):
            return value
    return ast.Constant(0)


def _is_short(given: ast.Call, call: CompiledCall) -> bool:
    """Say whether a range is known to have few turns."""
    last = given.args[-1] if given.args else None
    if isinstance(last, ast.Constant):
        return isinstance(last.value, int) and last.value < _SHORT
    name = "" if last is None else ast.unparse(last)
    is_whole = call.arguments.get(name, "").startswith(("int", "uint"))
    value = (call.given or {}).get(name, [])
    return is_whole and bool(value) and value[0] < _SHORT


def _is_plain(function: Function) -> bool:
    """Say whether a function calls only what makes an array, or computes with one number."""
    for one in ast.walk(function):
        if isinstance(one, ast.Call) and one not in function.decorator_list:
            name = ast.unparse(one.func)
            is_numpy = name.startswith(_NUMPY) and called(one) in _MAKERS | _SCALARS
            if not (name in _OF_NUMBERS or name.startswith("math.") or is_numpy):
                return False
    return True


def _is_arithmetic(node: ast.expr) -> bool:
    """Say whether an expression is sums and products of elements and variables, and no more."""
    allowed = (ast.Add, ast.Sub, ast.Mult)
    for one in ast.walk(node):
        if isinstance(one, ast.BinOp) and not isinstance(one.op, allowed):
            if not isinstance(one.op, ast.Pow) or ast.unparse(one.right) != "2":
                return False
        elif (isinstance(one, ast.Call) and ast.unparse(one.func) != "abs") or isinstance(
            one, (ast.Compare, ast.IfExp, ast.Slice)
        ):
            return False
    return True


def _read(node: ast.AST) -> Iterator[ast.Subscript]:
    """Yield the elements that code reads."""
    for one in ast.walk(node):
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load):
            yield one


def _go_along(read: Sequence[ast.Subscript], turning: str, call: CompiledCall) -> bool:
    """Say whether elements lie side by side from turn to turn, of long arrays of floats."""
    floats = 0
    for one in read:
        places = _places(one)
        inner = [each for place in places for each in ast.walk(place)]
        if any(isinstance(each, (ast.Subscript, ast.Slice)) for each in inner):
            return False
        kind = _KIND.fullmatch(call.arguments.get(ast.unparse(one.value), ""))
        if kind is None or int(kind["n"]) != len(places):
            return False
        if not any(turning in variables(place) for place in places):
            continue
        sizes = (call.given or {}).get(ast.unparse(one.value), [])
        if not _goes_by_one(places, turning) or (sizes and sizes[-1] < _SHORT):
            return False
        floats += kind["kind"].startswith("float")
    return floats > 0


def _goes_by_one(places: Sequence[ast.expr], turning: str) -> bool:
    """Say whether the last place alone has a turn's number, and goes up by one with it."""
    *others, last = places
    factors = (
        one
        for one in ast.walk(last)
        if isinstance(one, ast.BinOp) and not isinstance(one.op, ast.Add)
        if turning in variables(one)
    )
    return not any(turning in variables(place) for place in others) and next(factors, None) is None


def _places(one: ast.Subscript) -> list[ast.expr]:
    return one.slice.elts if isinstance(one.slice, ast.Tuple) else [one.slice]


def _serial(function: Function, call: CompiledCall) -> Iterator[ast.For]:
    """Yield outermost loops over ``range`` whose turns could go side by side.

    Only in a function without ``prange``, in a loop that has another one inside: else starting
    threads may take longer.
    """
    calls = [one for one in ast.walk(function) if isinstance(one, ast.Call)]
    if any(called(one) == "prange" for one in calls):
        return
    for loop in _outermost(function.body):
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
            continue
        given = loop.iter
        is_range = isinstance(given, ast.Call) and ast.unparse(given.func) == "range"
        if not isinstance(given, ast.Call) or not is_range or len(given.args) > _TWO:
            continue
        has_inner = any(isinstance(one, ast.For) for one in _inside(loop))
        if has_inner and not _is_short(given, call) and _are_apart(function, loop, call):
            yield loop


def _outermost(body: Iterable[ast.stmt]) -> Iterator[ast.For | ast.While]:
    for one in body:
        if isinstance(one, (ast.For, ast.While)):
            yield one
        elif isinstance(one, (ast.If, ast.With)):
            yield from _outermost([*one.body, *getattr(one, "orelse", [])])


def _inside(loop: ast.For) -> list[ast.AST]:
    return [one for part in loop.body for one in ast.walk(part)]


def _are_apart(function: Function, loop: ast.For, call: CompiledCall) -> bool:
    """Say whether each turn writes elements of its own, and nothing that is read elsewhere."""
    inside, turning = _inside(loop), ast.unparse(loop.target)
    other = (ast.Break, ast.Return, ast.While, ast.Raise, ast.Assert, ast.Slice, ast.Expr)
    if any(isinstance(one, other) for one in inside) or not _is_plain(function):
        return False
    elements = [one for one in inside if isinstance(one, ast.Subscript)]
    written = {ast.unparse(one.value) for one in elements if isinstance(one.ctx, ast.Store)}
    own = [one for one in elements if ast.unparse(one.value) in written]
    if not written or not all(_is_at(one, turning) for one in own):
        return False
    if not all(_is_array(function, name, call) for name in written):
        return False
    allowed = {id(each) for one in own for each in ast.walk(one.value)}
    whole = [
        one
        for one in inside
        if isinstance(one, ast.Name) and one.id in written
        if id(one) not in allowed
    ]
    kept = {name for part in loop.body for name in stored(part)}
    ids = {id(one) for one in ast.walk(loop)}
    after = {
        one.id
        for one in ast.walk(function)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and id(one) not in ids
        if one.lineno > loop.lineno
    }
    begins_anew = _set_by(loop.body, kept, {turning}) is not None
    return begins_anew and not whole and not kept & after


def _is_array(function: Function, name: str, call: CompiledCall) -> bool:
    """Say whether a name is an array: an argument that is one, or made by NumPy."""
    if call.arguments.get(name, "").startswith("array("):
        return True
    made = [
        one.value
        for one in ast.walk(function)
        if isinstance(one, ast.Assign) and [name] == [*map(ast.unparse, one.targets)]
    ]
    return bool(made) and all(isinstance(one, ast.Call) and called(one) in _MAKERS for one in made)


def _is_at(one: ast.Subscript, turning: str) -> bool:
    """Say whether the first place of an element is the number of the turn."""
    first = _places(one)[0]
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
