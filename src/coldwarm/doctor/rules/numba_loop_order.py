"""Innermost loops of compiled functions of Numba's that go down the columns of an array.

The rows of an array in C order lie one after the other: a loop over its first index takes one
number of each row, for which the processor fetches a line of its cache each time. Read from the
source of functions that were compiled, and the sizes and types that they were given.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.rules.numba_small_arrays import dear_functions, loops
from coldwarm.doctor.source_code import stored, variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace


_REASONS = {
    "doctor_down_columns": "the innermost loop of {function}, which is compiled, goes down a column"
    " of `{array}`, whose rows have {n_columns:# number}: each turn takes one number of another"
    " row; about {spent_s:time} were spent in calls of it",
}
_CHANGES = {
    "numba-loop-order": "let the innermost loop go along the last index, and keep what a turn takes"
    " from the turn before in an array, one number for each column; or give the array transposed,"
    " as a copy in C order",
}
_DIMENSIONS = 2
"""Of an array, and fewest loops of which one is inside of the other."""
_LONG_ROW, _LARGE = 64, 100_000
"""Fewest numbers of a row, and of an array, that does not fit into the nearest cache."""


class _Access(NamedTuple):
    """A number that a loop takes of an array, or puts there."""

    array: str
    line: int
    is_down: bool


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each function once all of whose innermost loops go down columns."""
    done: set[int] = set()
    for call, function, spent_s in dear_functions(trace):
        if id(function) in done:
            continue
        down = _down_columns(function, call)
        if down is not None:
            done.add(id(function))
            says = because(
                "doctor_down_columns",
                function=call.name,
                array=down.array,
                n_columns=(call.given or {})[down.array][-1],
                spent_s=spent_s,
            )
            yield trace.finding(
                "numba-loop-order",
                trace.line_at(call.function.path or "", down.line),
                says,
                framework="numba",
                no_figure=because("doctor_depends"),
            )


def _down_columns(function: Function, call: CompiledCall) -> _Access | None:
    """Return the first access of the deepest loops, if all of them go down columns."""
    depths = dict(loops(function, 0))
    deepest = [one for one, depth in depths.items() if depth == max(depths.values())]
    if max(depths.values(), default=0) < _DIMENSIONS or any(map(_calls, deepest)):
        return None
    found: list[_Access] = []
    for loop in deepest:
        inside = list(_accesses(loop, call))
        if not inside or not all(one.is_down for one in inside):
            return None
        found += inside
    return next(iter(found), None)


def _accesses(loop: ast.For | ast.While, call: CompiledCall) -> Iterator[_Access]:
    """Yield what a loop takes of large arrays in C order with two indices."""
    moving = stored(loop)
    for node in ast.walk(loop):
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
            continue
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        if node.value.id not in (call.given or {}) or len(places) != _DIMENSIONS:
            continue
        first, last = (variables(one) & moving for one in places)
        if first or last:
            is_down = bool(first) and not last and _is_large(call, node.value.id)
            yield _Access(node.value.id, loop.lineno, is_down)


def _is_large(call: CompiledCall, name: str) -> bool:
    """Say whether an array is in C order, and larger than what a processor keeps at hand."""
    sizes = (call.given or {})[name]
    is_c = call.arguments.get(name, "").endswith("2d, C)")
    is_long = len(sizes) == _DIMENSIONS and sizes[-1] >= _LONG_ROW
    return is_c and is_long and sizes[0] * sizes[1] >= _LARGE


def _calls(loop: ast.For | ast.While) -> bool:
    """Say whether a loop calls what may take longer than to fetch a number."""
    header = set(ast.walk(loop.iter)) if isinstance(loop, ast.For) else set()
    return any(isinstance(one, ast.Call) and one not in header for one in ast.walk(loop))


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
