"""The user's source files, as far as findings need them: lines, loops, and how a line uses a call.

Pure: the texts are given.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Sources:
    """Files by path; those that are missing or no Python are known not to be."""

    texts: Mapping[str, str]
    _trees: dict[str, ast.Module | None] = field(default_factory=dict)
    _minuends: dict[str, set[str]] = field(default_factory=dict)
    _loops: dict[tuple[str, int], Extent | None] = field(default_factory=dict)
    _innermost: dict[tuple[str, int], ast.stmt | None] = field(default_factory=dict)

    def line(self, path: str, number: int) -> str:
        """Return a line without its indentation; empty where there is none."""
        lines = self.texts.get(path, "").splitlines()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    def tree(self, path: str) -> ast.Module | None:
        """Return a file as Python reads it."""
        if path not in self._trees:
            try:
                self._trees[path] = ast.parse(self.texts.get(path, ""))
            except (SyntaxError, ValueError, RecursionError):
                self._trees[path] = None
        return self._trees[path]

    def loop(self, path: str, line: int) -> Extent | None:
        """Return the extent of the innermost loop that a line is in, of its own function."""
        if (path, line) not in self._loops:
            self._loops[path, line] = self._loop(path, line)
        return self._loops[path, line]

    def _loop(self, path: str, line: int) -> Extent | None:
        found: Extent | None = None
        for node in self._around(path, line):
            if isinstance(node, _FUNCTIONS):
                found = None if line > _header(node) else found
            elif isinstance(node, _LOOPS) and _repeats(node, line):
                found = _extent(node)
        return found

    def _around(self, path: str, line: int) -> Iterator[ast.AST]:
        """Yield what a line is inside of, the outermost first."""
        tree = self.tree(path)
        nodes: list[ast.AST] = [tree] if tree is not None else []
        while nodes:
            node = nodes.pop(0)
            inner = [
                child
                for child in ast.iter_child_nodes(node)
                if (extent := _extent(child)) is not None and extent[0] <= line <= extent[1]
            ]
            yield from (child for child in inner if isinstance(child, (*_LOOPS, *_FUNCTIONS)))
            nodes += inner

    def assigned(self, path: str, line: int) -> tuple[set[str], set[str]]:
        """Return the names that a line assigns from calls, and those that go into these calls."""
        targets: set[str] = set()
        used: set[str] = set()
        for node in self.statements(path, line):
            if isinstance(node, ast.Assign):
                targets |= {name for target in node.targets for name in _names(target)}
                for call in ast.walk(node.value):
                    if isinstance(call, ast.Call):
                        used |= {name for each in call.args for name in _names(each)}
        return targets, used

    def given(self, path: str, line: int) -> list[ast.expr]:
        """Return what the first call at a line is given by position."""
        for node in self.statements(path, line):
            for one in ast.walk(node):
                if isinstance(one, ast.Call) and one.args and one.lineno == line:
                    return list(one.args)
        return []

    def assigned_between(self, path: str, first: int, last: int) -> set[str]:
        """Return the names that lines assign, loop variables among them."""
        tree = self.tree(path)
        return {
            node.id
            for node in (ast.walk(tree) if tree is not None else ())
            if isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and first <= node.lineno <= last
        }

    def function(self, path: str, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Return the function whose first line, decorators included, this is."""
        tree = self.tree(path)
        for node in ast.walk(tree) if tree is not None else ():
            extent = _extent(node)
            if isinstance(node, _FUNCTIONS) and extent is not None and extent[0] == line:
                return node
        return None

    def defines(self, path: str, line: int) -> bool:
        """Say whether a line belongs to what defines a function: its decorators, its header."""
        return any(isinstance(one, _FUNCTIONS) for one in self.statements(path, line))

    def statements(self, path: str, line: int) -> Iterator[ast.stmt]:
        """Yield the innermost statement at a line."""
        if (path, line) not in self._innermost:
            self._innermost[path, line] = self._statement(path, line)
        found = self._innermost[path, line]
        if found is not None:
            yield found

    def _statement(self, path: str, line: int) -> ast.stmt | None:
        tree = self.tree(path)
        found: ast.stmt | None = None
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.stmt):
                extent = _extent(node)
                if extent and extent[0] <= line <= extent[1]:
                    smaller = found is None or extent[1] - extent[0] <= _length(found)
                    found = node if smaller else found
        return found

    def ends_interval(self, path: str, line: int) -> bool:
        """Say whether a clock that is read at a line is what an earlier reading is taken from."""
        for node in self.statements(path, line):
            if any(_takes_from_call(one, line) for one in ast.walk(node)):
                return True
            if isinstance(node, (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With)):
                return False  # the clock is in its header
            names = {ast.unparse(target) for target in getattr(node, "targets", ())}
            return bool(names & self._taken_from(path))
        return False

    def throws_away(self, path: str, line: int) -> bool:
        """Say whether a line is a call alone, whose result is not kept."""
        for node in self.statements(path, line):
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(call, ast.Call):
                given = [*call.args, *(one.value for one in call.keywords)]
                inner = (one for each in given for one in ast.walk(each))
                return not any(isinstance(one, ast.Call) for one in inner)
        return False

    def _taken_from(self, path: str) -> set[str]:
        """Return the names of a file from which something is subtracted."""
        if path not in self._minuends:
            tree = self.tree(path)
            self._minuends[path] = {
                ast.unparse(one.left)
                for one in (ast.walk(tree) if tree is not None else ())
                if isinstance(one, ast.BinOp)
                and isinstance(one.op, ast.Sub)
                and isinstance(one.left, (ast.Name, ast.Attribute))
            }
        return self._minuends[path]


def _takes_from_call(node: ast.AST, line: int) -> bool:
    """Say whether something is subtracted from what a call without arguments at a line returns."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
        return False
    left = node.left
    return isinstance(left, ast.Call) and left.lineno == line and not left.args


def _repeats(node: ast.AST, line: int) -> bool:
    """Say whether a line of a loop is in what is repeated, not in what it goes through."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return line >= node.body[0].lineno
    return True


def _header(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return node.body[0].lineno - 1


def _extent(node: ast.AST) -> Extent | None:
    begin, end = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    decorators = getattr(node, "decorator_list", ())
    if begin is None or end is None:
        return None
    return min([begin, *(one.lineno for one in decorators)]), end


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno


def _names(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
