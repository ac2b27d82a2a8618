"""What stands at each line of a file: found by going through the file once. Pure."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Extent = tuple[int, int]
    """The first and the last line of something."""

_LOOPS = (
    ast.For,
    ast.While,
    ast.AsyncFor,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
_REPEATING = {"reduce", "functools.reduce"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Lines:
    """Of one file."""

    around: Mapping[int, Sequence[ast.AST]] = field(default_factory=dict)
    """By line: the loops and functions that it is inside of, the outermost first."""
    statements: Mapping[int, ast.stmt] = field(default_factory=dict)
    """By line: the innermost statement."""
    functions: Mapping[int, ast.FunctionDef | ast.AsyncFunctionDef] = field(default_factory=dict)
    """By their first line, decorators included."""
    stored: Sequence[tuple[int, str]] = ()
    """Names that are assigned, by line."""

    def stored_between(self, first: int, last: int) -> set[str]:
        """Return the names that lines assign, loop variables among them."""
        begin, end = bisect_left(self.stored, (first, "")), bisect_left(self.stored, (last + 1, ""))
        return {name for _, name in self.stored[begin:end]}


def lines_of(tree: ast.Module) -> Lines:
    """Return what stands at each line of a file."""
    statements: dict[int, ast.stmt] = {}
    functions: dict[int, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    stored = []
    for node in ast.walk(tree):
        reach = extent(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored.append((node.lineno, node.id))
        if not isinstance(node, ast.stmt) or reach is None:
            continue
        if isinstance(node, FUNCTIONS):
            functions.setdefault(reach[0], node)
        for line in range(reach[0], reach[1] + 1):
            known = statements.get(line)
            if known is None or reach[1] - reach[0] <= _length(known):
                statements[line] = node
    return Lines(_around(tree), statements, functions, sorted(stored))


def _around(tree: ast.Module) -> dict[int, list[ast.AST]]:
    found: dict[int, list[ast.AST]] = {}
    nodes: deque[ast.AST] = deque([tree])
    while nodes:
        for child in ast.iter_child_nodes(nodes.popleft()):
            reach = extent(child)
            if reach is None:
                continue
            nodes.append(child)
            if isinstance(child, FUNCTIONS) or is_loop(child):
                for line in range(reach[0], reach[1] + 1):
                    found.setdefault(line, []).append(child)
    return found


def is_loop(node: ast.AST) -> bool:
    """Say whether something repeats what stands in it; ``functools.reduce`` does so, too."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in _REPEATING
    return isinstance(node, _LOOPS)


def extent(node: ast.AST) -> Extent | None:
    """Return the first line of something, decorators included, and its last one."""
    begin, end = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    decorators = getattr(node, "decorator_list", ())
    if begin is None or end is None:
        return None
    return min([begin, *(one.lineno for one in decorators)]), end


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno
