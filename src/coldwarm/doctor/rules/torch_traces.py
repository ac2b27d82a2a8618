"""Branches that ``torch.jit.trace`` decides by its example, once and for all."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called, variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import ProcessTrace


_REASONS = {
    "doctor_traced_branch": "torch.jit.trace runs {function} once, with its example, and keeps what"
    " the example does at `{test}`: later calls do the same, whatever they are given",
}
_ADVICE = {
    "doctor_traced_branch": "write it with torch.where, or use torch.jit.script or torch.compile,"
    " which keep both branches",
}
_CHANGES = {"torch-traced-branch": "keep both branches"}
_KNOWN = {"shape", "ndim", "dtype", "device", "requires_grad", "is_cuda", "training", "layout"}
"""Attributes that do not depend on the numbers of a tensor."""
_ABOUT = {"len", "isinstance", "hasattr", "callable", "dim", "size", "numel", "is_floating_point"}
"""Functions that do not either."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each call that traces a function with a branch."""
    for path in trace.sources.paths:
        for call in trace.sources.nodes(path):
            if not isinstance(call, ast.Call) or not call.args or not _traces(trace, path, call):
                continue
            name, function = _traced(trace, path, call)
            test = _decided(function) if function is not None else None
            if test is None:
                continue
            site = trace.line_at(path, call.lineno)
            says = because("doctor_traced_branch", function=name, test=ast.unparse(test))
            yield trace.finding(
                "torch-traced-branch",
                site,
                says,
                framework="torch",
                no_figure=because("doctor_wrong_result"),
            )


def _traces(trace: ProcessTrace, path: str, call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    imported = name == "trace" and trace.sources.imported_from(path, name) == "torch.jit"
    return imported or name in {"torch.jit.trace", "jit.trace"}


def _traced(trace: ProcessTrace, path: str, call: ast.Call) -> tuple[str, Function | None]:
    """Return the name of what is traced, and the function, or the ``forward`` of the module."""
    given = call.args[0]
    if isinstance(given, ast.Name):
        stored = [
            one.value
            for one in trace.sources.nodes(path)
            if isinstance(one, ast.Assign) and [given.id] == [*map(ast.unparse, one.targets)]
        ]
        given = stored[0] if len(stored) == 1 else given
    is_made = isinstance(given, ast.Call)
    name = called(given) if isinstance(given, ast.Call) else ast.unparse(given)
    found = [
        one
        for file in trace.sources.paths
        for node in trace.sources.nodes(file)
        for one in _of_name(node, name, is_made=is_made)
    ]
    return name, found[0] if len(found) == 1 else None


def _of_name(node: ast.AST, name: str, *, is_made: bool) -> Iterator[Function]:
    """Yield the ``forward`` of a class that is made, or a function that is given."""
    if is_made and isinstance(node, ast.ClassDef) and node.name == name:
        yield from (
            one for one in node.body if isinstance(one, _FUNCTIONS) and one.name == "forward"
        )
    elif not is_made and isinstance(node, _FUNCTIONS) and node.name == name:
        yield node


def _decided(function: Function) -> ast.expr | None:
    """Return the first test of a function that depends on the numbers of its arguments."""
    every = [*function.args.posonlyargs, *function.args.args]
    names = {
        one.arg
        for one in every[: len(every) - len(function.args.defaults)]
        if one.arg != "self" and (one.annotation is None or "Tensor" in ast.unparse(one.annotation))
    }
    for node in ast.walk(function):  # in the order of the source, but for what is inside
        if isinstance(node, (ast.Assign, ast.AugAssign)) and _uses(node.value, names):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {name for one in targets for name in variables(one)} - {"self"}
    tests = [
        node.test
        for node in ast.walk(function)
        if isinstance(node, (ast.If, ast.IfExp, ast.While)) and _uses(node.test, names)
    ]
    return min(tests, key=lambda one: one.lineno, default=None)


def _uses(node: ast.AST, names: set[str]) -> bool:
    """Say whether an expression takes the numbers of one of these."""
    match node:
        case ast.Attribute(attr=attr) if attr in _KNOWN or attr.startswith("is_"):
            return False
        case ast.Call() if called(node) in _ABOUT:
            return False
        case ast.Compare(ops=[ast.Is() | ast.IsNot() | ast.In() | ast.NotIn()]):
            return False
        case ast.Name(id=name):
            return name in names
    return any(_uses(one, names) for one in ast.iter_child_nodes(node))


RULE = Rule(findings=_findings, codes=Codes(_REASONS, _ADVICE), changes=_CHANGES)
