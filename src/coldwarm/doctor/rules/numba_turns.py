"""What each turn of a loop does in compiled functions of Numba's, and need not do.

An array grows, is computed anew from what the loop does not change, is searched by texts, or has
its places from remainders. Read from the source of functions that were compiled, and from the types
and sizes that they were given.
"""

from __future__ import annotations

import ast
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.rules.numba_small_arrays import dear_functions, loops
from coldwarm.doctor.source_code import called, changed_in_place, stored, variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace

    _Loop = ast.For | ast.While


_REASONS = {
    "doctor_numba_grows": "a loop of {function}, which is compiled, makes `{array}` longer by"
    " {call}, which copies all of it each time; about {spent_s:time} were spent in calls of"
    " {function}",
    "doctor_numba_again": "each turn of a loop of {function}, which is compiled, computes {call} of"
    " {argument_names:list}, which the loop does not change; about {spent_s:time} were spent in"
    " calls of it",
    "doctor_numba_texts": "each turn of a loop of {function}, which is compiled, looks for a text"
    " in `{array}`; about {spent_s:time} were spent in calls of it",
    "doctor_numba_remainders": "each turn of the innermost loop of {function}, which is compiled,"
    " divides {n_times:# time} for the places of numbers in an array; about {spent_s:time} were"
    " spent in calls of it",
}
_CHANGES = {
    "numba-array-grows": "make the array in full length before the loop, fill it, and cut it off"
    " afterwards; or collect the parts in a list",
    "numba-constant-in-loop": "compute it once, before the loop",
    "numba-text-keys": "number the texts once, before the call, such as with numpy.unique(texts,"
    " return_inverse=True), and pass arrays of these numbers",
    "numba-remainders": "compute the places once, into an array before the loops; or compute the"
    " edges apart from the inside, which needs no remainders",
}
_JOINS = {"append", "concatenate", "hstack", "vstack"}
_FACTORS = frozenset(
    ("inv", "pinv", "solve", "lstsq", "cholesky", "eig", "eigh", "svd", "qr", "det", "slogdet")
)
_ELEMENTWISE = frozenset(
    ("exp", "log", "sqrt", "sin", "cos", "tan", "power", "sort", "argsort", "unique", "median")
) | frozenset(("percentile", "quantile", "mean", "std", "var", "sum", "cumsum", "outer", "max"))
_NUMPY = ("np.", "numpy.")
_PURE = frozenset(("sum", "mean", "min", "max", "dot", "copy", "astype", "reshape", "get", "any"))
"""Methods that leave what they are of as it is."""
_VIEWS = frozenset(("reshape", "ravel", "transpose", "view", "asarray", "ascontiguousarray"))
_CHEAP = frozenset(("range", "prange", "len", "abs", "min", "max", "int", "float"))
_LONG = 64
"""Fewest numbers of an array whose computing matters."""
_FEWEST = 2
"""Remainders in a turn."""


class _Told(NamedTuple):
    """What was found in a function."""

    pattern: str
    line: int
    code: str
    values: Mapping[str, str | int | list[str]]


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each function once for each of these."""
    done: set[tuple[str, int]] = set()
    for call, function, spent_s in dear_functions(trace):
        for told in _all(function, call):
            if (told.pattern, id(function)) not in done:
                done.add((told.pattern, id(function)))
                says = because(told.code, function=call.name, spent_s=spent_s, **told.values)
                yield _finding(trace, call, told, says)


def _finding(trace: ProcessTrace, call: CompiledCall, told: _Told, says: Reason) -> Finding:
    site = trace.line_at(call.function.path or "", told.line)
    figure = because("doctor_depends")
    return trace.finding(told.pattern, site, says, framework="numba", no_figure=figure)


def _all(function: Function, call: CompiledCall) -> Iterator[_Told]:
    found = dict(loops(function, 0))
    for loop in found:
        yield from _grows(loop)
        yield from _again(loop, call, function)
        yield from _texts(loop, call)
    deepest = max(found.values(), default=0)
    for loop, depth in found.items():
        if depth == deepest:
            yield from _remainders(loop, function)


def _grows(loop: _Loop) -> Iterator[_Told]:
    """Find an array that is joined with more of it."""
    for node in ast.walk(loop):
        made = node.value if isinstance(node, ast.Assign) else None
        if not isinstance(node, ast.Assign) or not isinstance(made, ast.Call):
            continue
        name, written = called(made), ast.unparse(made.func)
        given = {one for each in made.args for one in variables(each)}
        grown = [one.id for one in node.targets if isinstance(one, ast.Name) and one.id in given]
        if name in _JOINS and written.startswith(_NUMPY) and grown:
            told = {"array": grown[0], "call": written}
            yield _Told("numba-array-grows", node.lineno, "doctor_numba_grows", told)


def _again(loop: _Loop, call: CompiledCall, function: Function) -> Iterator[_Told]:
    """Find what a turn computes of what the loop does not change.

    A sum may be little beside a loop inside; where there is one, only factors are told.
    """
    turning = _changed(loop, function)
    is_innermost = not any(isinstance(one, (ast.For, ast.While)) for one in _each_turn(loop))
    wanted = _FACTORS | (_ELEMENTWISE if is_innermost else frozenset())
    for node in _each_turn(loop):
        if not isinstance(node, ast.Call) or called(node) not in wanted or not node.args:
            continue
        written = ast.unparse(node.func)
        names = {one for each in node.args for one in variables(each)} - {"np", "numpy", "math"}
        if not written.startswith(_NUMPY) or not names or names & turning:
            continue
        if any(isinstance(one, ast.Call) for each in node.args for one in ast.walk(each)):
            continue  # which may draw, or change something
        if called(node) in _FACTORS or any(_is_long(call, one) for one in names):
            told: dict[str, str | list[str]] = {"call": written, "argument_names": sorted(names)}
            yield _Told("numba-constant-in-loop", node.lineno, "doctor_numba_again", told)


def _is_long(call: CompiledCall, name: str) -> bool:
    sizes = (call.given or {}).get(name, [])
    return call.arguments.get(name, "").startswith("array") and prod(sizes) >= _LONG


def _changed(loop: _Loop, around: ast.AST) -> set[str]:
    """Return the variables that a loop stores, changes in place, or gives to other functions.

    What is a view of another, made anywhere in the function around it, changes with it.
    """
    inside = changed_in_place(loop)
    for node in ast.walk(loop):
        if isinstance(node, ast.Call):
            written = ast.unparse(node.func)
            if isinstance(node.func, ast.Attribute) and not written.startswith((*_NUMPY, "math.")):
                inside |= set() if called(node) in _PURE else variables(node.func.value)
            elif isinstance(node.func, ast.Name) and written not in _CHEAP:
                inside |= {one for each in node.args for one in variables(each)}
    views = [one for one in ast.walk(around) if isinstance(one, ast.Assign) and _is_view(one.value)]
    for _ in views:
        for one in views:
            both = stored(one) | variables(one.value)
            inside |= both if both & inside else set()
    return stored(loop) | inside


def _is_view(made: ast.expr) -> bool:
    """Say whether an expression may be another array's memory."""
    if isinstance(made, ast.Call):
        return called(made) in _VIEWS
    return isinstance(made, (ast.Name, ast.Subscript, ast.Attribute, ast.Tuple, ast.IfExp))


def _texts(loop: _Loop, call: CompiledCall) -> Iterator[_Told]:
    """Find where a turn looks for a text in an argument."""
    known = {name for name, kind in call.arguments.items() if _has_texts(kind)}
    for node in _each_turn(loop) if known else ():
        match node:
            case ast.Subscript(value=ast.Name(id=name)) if _is_dictionary(call, name):
                searched = name
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=searched)]):
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id=searched), attr="get")):
                pass
            case _:
                continue
        if searched in known:
            told = {"array": searched}
            yield _Told("numba-text-keys", node.lineno, "doctor_numba_texts", told)


def _has_texts(kind: str) -> bool:
    return "unicode_type" in kind or "unichr" in kind


def _is_dictionary(call: CompiledCall, name: str) -> bool:
    """Say whether an argument is a dictionary whose keys are texts."""
    return call.arguments.get(name, "").startswith("DictType[unicode_type")


def _remainders(loop: _Loop, function: Function) -> Iterator[_Told]:
    """Find remainders by which an innermost loop comes to places of an array.

    Only where a turn calls nothing that may take longer than all of this.
    """
    body = [one for part in loop.body for one in ast.walk(part)]
    if any(isinstance(one, ast.Call) and ast.unparse(one.func) not in _CHEAP for one in body):
        return
    turning = _changed(loop, function)
    places = [one.slice for one in body if isinstance(one, ast.Subscript)]
    used = {name for one in places for name in variables(one)}
    places += [
        one.value
        for one in body
        if isinstance(one, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id in used for target in one.targets)
    ]
    found = {
        ast.unparse(node): node
        for place in places
        for node in ast.walk(place)
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mod)
        and not _is_power(node.right)
        and variables(node.left) & turning
    }
    if len(found) >= _FEWEST:
        first = min(one.lineno for one in found.values())
        told = {"n_times": len(found)}
        yield _Told("numba-remainders", first, "doctor_numba_remainders", told)


def _is_power(node: ast.expr) -> bool:
    """Say whether a number is a power of two, by which nothing is divided."""
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, int) and value > 0 and not value & (value - 1)


def _each_turn(loop: _Loop) -> Iterator[ast.AST]:
    """Yield what each turn of a loop does, and does not do in some turns only."""
    left: list[ast.AST] = list(loop.body)
    while left:
        node = left.pop(0)
        yield node
        if isinstance(node, (ast.If, ast.IfExp)):
            left.append(node.test)
        elif not isinstance(node, ast.Try):
            left += ast.iter_child_nodes(node)


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
