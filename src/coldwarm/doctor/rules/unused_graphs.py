"""Calls of PyTorch's modules that keep a graph for gradients which nothing takes.

That a result is used as numbers alone is read from the source of the function that calls; how long
the calls took is known from looks at the program.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called
from coldwarm.doctor.tensor_names import given_to

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import ProcessTrace, SourceLine


_REASONS = {
    "doctor_unused_graph": "{call} keeps what a backward pass would need, and its result is used as"
    " numbers alone; about {spent_s:time} were spent in these calls",
}
_CHANGES = {"graph-unused": "put it under with torch.inference_mode(): or with torch.no_grad():"}
_WITHOUT = {"no_grad", "inference_mode", "set_grad_enabled"}
_FREEZING = {"requires_grad_", "requires_grad", "set_grad_enabled"}
_BACK = {"grad", "backward", "vjp", "jacobian", "hessian", "jacrev", "jacfwd"}
"""Functions that go back through the graph of what they are given."""
_TO_NUMBERS = frozenset(
    ("argmax", "argmin", "argsort", "item", "tolist", "numpy", "detach", "size", "dim", "numel")
)
"""Methods, or functions, whose results no gradient goes back through."""
_NUMBERS = frozenset(("float", "int", "bool", "len"))
"""Functions of Python's own that give numbers."""
_DESCRIBING = frozenset(("shape", "dtype", "device", "ndim"))
_PYTORCHS = frozenset(("torch", "F", "nn"))
_DEPTH = 3
"""Variables through which a result is followed."""
_SMALL = 3
"""Only a part of the time of a call is that of its graph: about so many times as much is asked."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the lines that call a module, and whose results are used as numbers."""
    if not any(trace.sources.imports(path, "torch") for path in trace.sources.paths):
        return
    if _is_frozen(trace):
        return
    modules = _modules(trace)
    for site, seconds in _with_graphs(trace).items():
        calls = trace.sources.calls_at(site.path, site.line)
        call = next((one for one in calls if called(one) in modules), None)
        around = next(iter(trace.sources.functions_around(site.path, site.line)), None)
        if call is None or around is None:
            continue
        if _Function(around, modules).is_number(call, _DEPTH):
            says = because("doctor_unused_graph", call=ast.unparse(call.func), spent_s=seconds)
            yield trace.finding_of_seconds("graph-unused", site, says, framework="torch")


def _with_graphs(trace: ProcessTrace) -> dict[SourceLine, float]:
    """Return the lines that led to much work with gradients on, and their seconds."""
    spent: dict[SourceLine, float] = defaultdict(float)
    without: dict[SourceLine, bool] = {}
    for spot, seconds in trace.spent:
        for line in spot.stack:
            if line not in without:
                without[line] = _has_none(trace, line)
        if not any(without[line] for line in spot.stack):
            for line in dict.fromkeys(spot.stack):
                spent[line] += seconds
    return {line: seconds for line, seconds in spent.items() if trace.is_worth(seconds / _SMALL)}


def _is_frozen(trace: ProcessTrace) -> bool:
    """Say whether the program may have modules without gradients."""
    return any(
        (isinstance(one, ast.Attribute) and one.attr in _FREEZING)
        or (isinstance(one, ast.keyword) and one.arg in _FREEZING)
        for path in trace.sources.paths
        for one in trace.sources.nodes(path)
    )


def _modules(trace: ProcessTrace) -> set[str]:
    """Return the variables and attributes that modules of PyTorch's are given to."""
    nodes = [one for path in trace.sources.paths for one in trace.sources.nodes(path)]
    classes = {
        one.name
        for one in nodes
        if isinstance(one, ast.ClassDef)
        if any(ast.unparse(base).rpartition(".")[2] == "Module" for base in one.bases)
    }
    found = {
        ast.unparse(target).rpartition(".")[2]
        for one in nodes
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)
        if called(one.value) in classes or ast.unparse(one.value.func).startswith("nn.")
        for target in one.targets
        if isinstance(target, (ast.Name, ast.Attribute))
    }
    functions = {one.name: one for one in nodes if isinstance(one, ast.FunctionDef)}
    for _ in range(2):  # through functions that give them to others
        for one in nodes:
            function = functions.get(called(one)) if isinstance(one, ast.Call) else None
            if isinstance(one, ast.Call) and function is not None:
                found |= _given(function, one, found)
    return found


def _given(function: ast.FunctionDef, call: ast.Call, modules: set[str]) -> set[str]:
    """Return the arguments of a function that a call gives modules to."""
    names = {one.arg for one in function.args.args}
    return {
        name
        for name in names
        if isinstance(given := given_to(function, name, call), (ast.Name, ast.Attribute))
        and ast.unparse(given).rpartition(".")[2] in modules
    }


def _has_none(trace: ProcessTrace, line: SourceLine) -> bool:
    """Say whether a line, or the function that it is in, asks for no gradients."""
    around = trace.sources.functions_around(line.path, line.line)
    if any(_says(one, _WITHOUT) for function in around for one in function.decorator_list):
        return True
    return any(
        isinstance(one, ast.With)
        and one.lineno <= line.line <= (one.end_lineno or one.lineno)
        and any(_says(item.context_expr, _WITHOUT) for item in one.items)
        for one in trace.sources.nodes(line.path)
    )


def _says(node: ast.AST, names: set[str]) -> bool:
    return any(
        (isinstance(one, ast.Attribute) and one.attr in names)
        or (isinstance(one, ast.Name) and one.id in names)
        for one in ast.walk(node)
    )


class _Function:
    """A function, and where its values go."""

    def __init__(self, function: Function, modules: AbstractSet[str]) -> None:
        """Look at all of it once."""
        self._modules = modules
        self._nodes = list(ast.walk(function))
        self._parents: Mapping[ast.AST, ast.AST] = {
            child: node for node in self._nodes for child in ast.iter_child_nodes(node)
        }

    def is_number(self, node: ast.AST, depth: int) -> bool:
        """Say whether a value is used, and as a number alone."""
        parent = self._parents.get(node)
        while parent is not None and not self._ends(parent):
            match parent:
                case ast.Assign(targets=[ast.Name(id=name)]):
                    return depth > 0 and self._all_are(name, depth - 1)
                case ast.Call() if parent.func is node or self._goes_on(parent):
                    pass
                case ast.Attribute() | ast.BinOp() | ast.UnaryOp() | ast.Subscript():
                    pass
                case _:
                    return False
            node, parent = parent, self._parents.get(parent)
        return parent is not None

    @staticmethod
    def _ends(parent: ast.AST) -> bool:
        """Say whether a number, or a mask, is made of a value."""
        match parent:
            case ast.Compare() | ast.FormattedValue():
                return True
            case ast.Attribute(attr=name):
                return name in _DESCRIBING
            case ast.Call(func=ast.Name(id=name)):
                return name in _NUMBERS
            case ast.Call():
                return called(parent) in _TO_NUMBERS
        return False

    def _goes_on(self, call: ast.Call) -> bool:
        """Say whether what a call gives is made of what it is given: PyTorch's, or a module's."""
        first, name = ast.unparse(call.func).partition(".")[0], called(call)
        return name not in _BACK and (first in _PYTORCHS or name in self._modules)

    def _all_are(self, name: str, depth: int) -> bool:
        uses = [
            one
            for one in self._nodes
            if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)
        ]
        return bool(uses) and all(self.is_number(one, depth) for one in uses)


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
