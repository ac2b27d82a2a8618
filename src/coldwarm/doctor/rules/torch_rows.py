"""Loops of Python that compute with the rows of a tensor one by one, though no turn needs another.

How long they took and how large the rows are is known from looks at the program, and what a turn
does from its source.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from math import prod
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called, variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import HeldArray, ProcessTrace, SourceLine

    _Loop = ast.For | ast.comprehension


_REASONS = {
    "doctor_rows_apart": "each turn of this loop computes with one row of `{array}`, of"
    " {n_elements:# number}, and needs no other turn; PyTorch dispatches each of its operations by"
    " itself; about {spent_s:time} were spent in these turns",
}
_CHANGES = {
    "torch-rows-one-by-one": "compute with all rows at once: with tensors of one more dimension, or"
    " with torch.func.vmap(f)(rows)"
}
_FEWEST, _LARGEST = 30, 4096
"""Rows of the tensor, and numbers of a row, up to which dispatching takes longer than computing."""
_ROWS = 2
"""Least dimensions of a tensor of rows."""
_MAKERS = {"from_numpy", "as_tensor", "tensor"}
_TORCHS = {"torch", "F", "math", "nn"}
_BUILT_IN = {
    "len",
    "range",
    "abs",
    "min",
    "max",
    "int",
    "float",
    "zip",
    "enumerate",
    "sum",
    "tuple",
}
_NOT_APART = frozenset(
    ("backward", "step", "zero_grad", "grad", "rand", "randn", "randint", "randperm", "multinomial")
) | frozenset(("bernoulli", "normal", "sample", "rsample", "sleep", "manual_seed", "pop", "read"))
"""Functions that change something, or give something else each time."""
_ENDING = (ast.Break, ast.Return, ast.While, ast.Yield, ast.Await, ast.Raise)
_ADDING = {"append", "extend"}


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each such loop once, at its line that took the longest."""
    by_loop: dict[tuple[str, int], dict[SourceLine, float]] = defaultdict(
        lambda: defaultdict(float)
    )
    for spot, seconds in trace.spent:
        line = trace.turned(spot.stack)
        around = trace.loop_at(line)
        if line is not None and around is not None:
            by_loop[line.path, around[1][0]][line] += seconds
    for (path, _), lines in by_loop.items():
        spent_s = sum(lines.values())
        site = max(lines, key=lambda one: lines[one])
        if not trace.is_worth(spent_s) or not trace.sources.imports(path, "torch"):
            continue
        loop = trace.sources.repeating(path, site.line)
        if not isinstance(loop, (ast.For, ast.comprehension)):
            continue
        rows = _rows(trace, site, loop)
        if rows is not None and _Turn(trace, site, loop).is_apart():
            says = because(
                "doctor_rows_apart",
                array=rows.name,
                n_elements=prod(rows.shape[1:]),
                spent_s=spent_s,
            )
            yield trace.finding_of_seconds("torch-rows-one-by-one", site, says, framework="torch")


def _rows(trace: ProcessTrace, site: SourceLine, loop: _Loop) -> HeldArray | None:
    """Return the tensor of whose rows each turn takes one, where they are many and short."""
    statement = trace.sources.statement(site.path, site.line)
    turning = variables(loop.target)
    named = [ast.unparse(one) for one in _gone_through(loop.iter)]
    for node in ast.walk(loop if isinstance(loop, ast.For) else statement or ast.Pass()):
        if not isinstance(node, ast.Subscript):
            continue
        first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
        if isinstance(first, ast.Name) and first.id in turning:
            named.append(ast.unparse(node.value))
    held = trace.held_at(site.path, site.line)
    for name in named:
        array = held.get(name)
        if array is None or len(array.shape) < _ROWS:
            continue
        if array.package != "torch" and not _makes_tensor(statement, turning):
            continue
        if array.shape[0] >= _FEWEST and prod(array.shape[1:]) <= _LARGEST:
            return array
    return None


def _makes_tensor(statement: ast.stmt | None, turning: set[str]) -> bool:
    """Say whether a statement makes a tensor of a row that is none yet."""
    return statement is not None and any(
        isinstance(one, ast.Call) and called(one) in _MAKERS and variables(one) & turning
        for one in ast.walk(statement)
    )


def _gone_through(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what a loop takes the items of, one by one; parts of several rows are none."""
    if isinstance(node, ast.Call) and called(node) in {"enumerate", "zip"}:
        for one in node.args:
            yield from _gone_through(one)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        yield node


class _Turn:
    """What a turn of a loop does."""

    def __init__(self, trace: ProcessTrace, site: SourceLine, loop: _Loop) -> None:
        """Look at all of it."""
        self._functions = {
            one.name: one
            for path in trace.sources.paths
            for one in trace.sources.nodes(path)
            if isinstance(one, ast.FunctionDef)
        }
        self._turning = variables(loop.target)
        self._nodes: list[ast.AST] = []
        if isinstance(loop, ast.For):
            self._nodes = [one for part in loop.body for one in ast.walk(part)]
        else:
            statement = trace.sources.statement(site.path, site.line)
            self._nodes = list(ast.walk(statement)) if statement is not None else []
        self._is_statement = isinstance(loop, ast.For)

    def is_apart(self) -> bool:
        """Say whether no turn needs another, as far as its source tells."""
        if any(isinstance(one, _ENDING) for one in self._nodes):
            return False
        calls = [one for one in self._nodes if isinstance(one, ast.Call)]
        if not all(self._is_pure(one) for one in calls):
            return False
        return not self._is_statement or (not self._carried() and self._writes_own())

    def _is_pure(self, call: ast.Call) -> bool:
        name, first = called(call), ast.unparse(call.func).partition(".")[0]
        if name.rstrip("_") in _NOT_APART:
            return False
        if isinstance(call.func, ast.Name):
            function = self._functions.get(name)
            return name in _BUILT_IN or (function is not None and _changes_nothing(function))
        # A method of an object of the program's may change it.
        return first in _TORCHS or name in _ADDING or name not in self._functions

    def _carried(self) -> set[str]:
        """Return the variables that a turn reads before it stores them, sums left aside."""
        first: dict[str, tuple[int, int]] = {}
        stored: set[str] = set()
        sums = {
            one.target.id
            for one in self._nodes
            if isinstance(one, ast.AugAssign)
            and isinstance(one.target, ast.Name)
            and isinstance(one.op, ast.Add)
        }
        for one in self._nodes:
            if isinstance(one, ast.Name):
                # A value is read before the target of its statement is stored.
                place = one.lineno, int(isinstance(one.ctx, ast.Store))
                first[one.id] = min(first.get(one.id, place), place)
                stored |= {one.id} if isinstance(one.ctx, ast.Store) else set()
        read_first = {name for name, (_, is_store) in first.items() if not is_store}
        loads = [
            one.id
            for one in self._nodes
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
        ]
        return {
            name
            for name in stored - self._turning
            if (name in read_first and name not in sums) or (name in sums and name in loads)
        }

    def _writes_own(self) -> bool:
        """Say whether all that a turn writes into arrays is at places of its own."""
        for one in self._nodes:
            if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store):
                return False
            if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store):
                array = ast.unparse(one.value)
                reads = sum(
                    isinstance(other, (ast.Name, ast.Attribute))
                    and isinstance(other.ctx, ast.Load)
                    and ast.unparse(other) == array
                    for other in self._nodes
                )
                writes = sum(
                    isinstance(other, ast.Subscript)
                    and isinstance(other.ctx, ast.Store)
                    and ast.unparse(other.value) == array
                    for other in self._nodes
                )
                if not variables(one.slice) & self._turning or reads > writes:
                    return False
        return True


def _changes_nothing(function: Function) -> bool:
    """Say whether a function neither stores outside of itself nor draws numbers."""
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return False
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            return False
        if isinstance(node, ast.Call) and called(node).rstrip("_") in _NOT_APART:
            return False
    return True


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
