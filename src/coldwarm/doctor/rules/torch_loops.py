"""Loops of Python over single elements of tensors, or that compute the same weight in each turn.

PyTorch dispatches each operation by itself. How long that took is known from looks at the program,
and that a name is a tensor from what its source does with it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called, variables
from coldwarm.doctor.tensor_names import TensorNames

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import ProcessTrace, SourceLine


_REASONS = {
    "doctor_tensor_elements": "this loop of Python's uses `{element}` element by element: each time"
    " PyTorch dispatches operations for one number; about {spent_s:time} were spent at this line",
    "doctor_applied": "{call} calls a function of Python's for each number of the tensor; about"
    " {spent_s:time} were spent in that",
    "doctor_parametrized": "this loop uses weights with a parametrization, which PyTorch computes"
    " anew each time: about {spent_s:time} were spent in that",
}
_ADVICE = {
    "doctor_applied": "write the function with operations of PyTorch's, and give it the whole"
    " tensor",
}
_CHANGES = {
    "torch-element-loop": "compute with the whole tensor: a comparison gives a mask, torch.where"
    " chooses by it, and torch.bincount or index_add_ count; or take .tolist() once, before the"
    " loop",
    "torch-parametrized-in-loop": "put the loop into with torch.nn.utils.parametrize.cached():,"
    " where the weights do not change in it",
}
_SCALARS = {"float", "int", "bool", "item", "sqrt", "exp", "log", "sin", "cos", "atan2", "isnan"}
"""Functions that are given single numbers, as those of ``math``."""
_PARAMETRIZED = "torch.parametrize"
_APPLYING = {"apply_", "map_", "map2_"}
"""Methods of tensors that call a function of Python's for each number."""
_GRADIENTS = {"backward", "grad", "step"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the lines of such loops."""
    spent: dict[SourceLine, float] = defaultdict(float)
    computed: dict[SourceLine, float] = defaultdict(float)
    for spot, seconds in trace.spent:
        is_torch = not spot.below or spot.below.startswith("torch.")
        spent[spot.stack[0]] += seconds * is_torch
        turned = trace.turned(spot.stack) if spot.below == _PARAMETRIZED else None
        if turned is not None:
            computed[turned] += seconds
    yield from _parametrized(trace, computed)
    yield from _applied(trace)
    tensors: TensorNames | None = None
    for site, seconds in spent.items():
        loop = _loop(trace, site) if trace.is_worth(seconds) else None
        if loop is None or not trace.sources.imports(site.path, "torch"):
            continue
        statement = trace.sources.statement(site.path, site.line)
        turning = variables(loop.target)
        tensors = tensors or TensorNames(trace.sources)
        element = _element(trace, tensors, site, statement, turning)
        if element:
            says = because("doctor_tensor_elements", element=element, spent_s=seconds)
            yield trace.finding_of_seconds("torch-element-loop", site, says, framework="torch")


def _parametrized(trace: ProcessTrace, computed: Mapping[SourceLine, float]) -> Iterator[Finding]:
    """Name the lines of loops that use one such module again and again, and do not change it."""
    for site, seconds in computed.items():
        loop = _loop(trace, site) if trace.is_worth(seconds) else None
        if loop is None or _learns(loop):
            continue
        turning = variables(loop.target)
        calls = trace.sources.calls_at(site.path, site.line)
        if not any(variables(one.func) & turning for one in calls):  # each turn has its own module
            says = because("doctor_parametrized", spent_s=seconds)
            yield trace.finding_of_seconds(
                "torch-parametrized-in-loop", site, says, framework="torch"
            )


def _applied(trace: ProcessTrace) -> Iterator[Finding]:
    """Name lines that have a function of Python's called for each number of a tensor."""
    found: dict[tuple[SourceLine, str], float] = defaultdict(float)
    for spot, seconds in trace.spent:
        for line in spot.stack:
            calls = trace.sources.calls_at(line.path, line.line)
            name = next((one for call in calls if (one := called(call)) in _APPLYING), None)
            if name is not None and trace.sources.imports(line.path, "torch"):
                found[line, name] += seconds
                break
    for (site, name), seconds in found.items():
        if trace.is_worth(seconds):
            says = because("doctor_applied", call=name, spent_s=seconds)
            yield trace.finding_of_seconds("torch-element-loop", site, says, framework="torch")


def _loop(trace: ProcessTrace, site: SourceLine) -> ast.For | ast.comprehension | None:
    """Return the innermost loop with variables of its own that a line is repeated by."""
    found = trace.sources.repeating(site.path, site.line)
    return found if not isinstance(found, ast.While) else None


def _element(
    trace: ProcessTrace,
    tensors: TensorNames,
    site: SourceLine,
    statement: ast.stmt | None,
    turning: set[str],
) -> str:
    """Return the element of a tensor that a statement of a loop uses as a number."""
    if statement is None:
        return ""
    around = next(iter(trace.sources.functions_around(site.path, site.line)), None)
    for node in _numbers(statement):
        if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
            continue
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        is_one = not any(isinstance(one, (ast.Slice, ast.Constant)) for one in parts)
        is_turns = is_one and bool(variables(node.slice) & turning)
        if is_turns and tensors.is_tensor(site.path, around, node.value):
            return ast.unparse(node)
    return ""


def _numbers(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield what a statement takes for single numbers: tests, conversions, items that it counts."""
    if isinstance(statement, (ast.If, ast.While)):
        yield from _compared(statement.test)
        return
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Subscript):
        if isinstance(statement.target.slice, ast.Tuple):
            yield statement.target
        return
    if isinstance(statement, (ast.For, *_FUNCTIONS, ast.ClassDef, ast.With, ast.Try)):
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and called(node) in _SCALARS:
            own = node.func.value if isinstance(node.func, ast.Attribute) else None
            if called(node) == "item" and own is not None:
                yield own
            elif own is None or ast.unparse(own) == "math":
                yield from node.args
        elif isinstance(node, ast.IfExp):
            yield from _compared(node.test)


def _compared(test: ast.expr) -> Iterator[ast.AST]:
    """Yield the sides of the comparisons of a test."""
    for node in ast.walk(test):
        if isinstance(node, ast.Compare):
            yield from (node.left, *node.comparators)


def _learns(loop: ast.For | ast.comprehension) -> bool:
    """Say whether each turn of a loop changes what it calls."""
    calls = [one for one in ast.walk(loop) if isinstance(one, ast.Call)]
    return any(called(one) in _GRADIENTS for one in calls)


RULE = Rule(findings=_findings, codes=Codes(_REASONS, _ADVICE), changes=_CHANGES)
