"""The user's source files, as far as findings need them: lines, loops, and how a line uses a call.

Pure: the texts are given.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING

from coldwarm.stats.doctor.code.intervals import Intervals
from coldwarm.stats.doctor.code.lines import FUNCTIONS, Lines, extent, is_loop, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.stats.doctor.code.lines import Extent

_STATEMENTS = (ast.For, ast.While, ast.AsyncFor)


@dataclass
class Sources:
    """Files by path; those that are missing or no Python are known not to be."""

    texts: Mapping[str, str]
    _trees: dict[str, ast.Module | None] = field(default_factory=dict)
    _intervals: dict[str, Intervals] = field(default_factory=dict)
    _split: dict[str, list[str]] = field(default_factory=dict)
    _files: dict[str, Lines] = field(default_factory=dict)
    _loops: dict[tuple[str, int], Extent | None] = field(default_factory=dict)
    _stored: dict[tuple[str, int, int], set[str]] = field(default_factory=dict)

    def line(self, path: str, number: int) -> str:
        """Return a line without its indentation; empty where there is none."""
        if path not in self._split:
            # Not by ``splitlines``: a line of Python goes on over a form feed.
            self._split[path] = list(StringIO(self.texts.get(path, "")))
        rows = self._split[path]
        return rows[number - 1].strip() if 0 < number <= len(rows) else ""

    def tree(self, path: str) -> ast.Module | None:
        """Return a file as Python reads it."""
        if path not in self._trees:
            try:
                self._trees[path] = ast.parse(self.texts.get(path, ""))
            except (SyntaxError, ValueError, RecursionError):
                self._trees[path] = None
        return self._trees[path]

    def _standing(self, path: str) -> Lines:
        if path not in self._files:
            tree = self.tree(path)
            self._files[path] = lines_of(tree) if tree is not None else Lines()
        return self._files[path]

    def loop(self, path: str, line: int) -> Extent | None:
        """Return the extent of the innermost loop that a line is in, of its own function.

        A comprehension inside of a loop is a part of that loop's turns.
        """
        if (path, line) not in self._loops:
            self._loops[path, line] = self._loop(path, line)
        return self._loops[path, line]

    def _loop(self, path: str, line: int) -> Extent | None:
        found: Extent | None = None
        for node in self._standing(path).around.get(line, ()):
            if isinstance(node, FUNCTIONS):
                found = None if line > _header(node) else found
            elif is_loop(node) and _repeats(node, line):
                inside = found is not None and not isinstance(node, _STATEMENTS)
                found = found if inside else extent(node)
        return found

    def replaced(self, path: str, line: int, function: str) -> set[str]:
        """Return what a line gives to a call of a function and assigns what comes back to.

        The call is all that is assigned. With other calls in its arguments it must name the
        function: it may not be told otherwise which of them is meant.
        """
        found: set[str] = set()
        for node in self.statements(path, line):
            call = node.value if isinstance(node, ast.Assign) else None
            if isinstance(node, ast.Assign) and isinstance(call, ast.Call):
                alone = sum(isinstance(one, ast.Call) for one in ast.walk(call)) == 1
                if alone or _called(call) == function:
                    targets = {name for target in node.targets for name in _parts(target)}
                    found |= targets & {name for each in call.args for name in _parts(each)}
        return found

    def also_called(self, path: str) -> set[str]:
        """Return the variables and attributes of a file that get a second name somewhere."""
        tree = self.tree(path)
        values = [
            one.value
            for one in (ast.walk(tree) if tree is not None else ())
            if isinstance(one, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and one.value
        ]
        return {name for one in values for name in _parts(one)}

    def given(self, path: str, line: int, function: str) -> list[ast.expr]:
        """Return what a call of a function at a line is given by position.

        Where none has its name, those of the first call.
        """
        calls = [
            one
            for node in self.statements(path, line)
            for one in ast.walk(node)
            if isinstance(one, ast.Call) and one.args and one.lineno == line
        ]
        named = [one for one in calls if _called(one) == function]
        return list(one.args) if (one := next(iter(named or calls), None)) else []

    def assigned_between(self, path: str, first: int, last: int) -> set[str]:
        """Return the names that lines assign, loop variables among them."""
        key = path, first, last
        if key not in self._stored:
            self._stored[key] = self._standing(path).stored_between(first, last)
        return self._stored[key]

    def takes_from_around(self, path: str, line: int, name: str) -> bool:
        """Say whether the innermost function at a line takes a name from outside of it."""
        tree = self.tree(path)
        inside: list[tuple[int, ast.AST]] = []
        for node in ast.walk(tree) if tree is not None else ():
            reach = extent(node)
            is_function = isinstance(node, (*FUNCTIONS, ast.Lambda))
            if is_function and reach is not None and reach[0] <= line <= reach[1]:
                inside.append((reach[1] - reach[0], node))
        if not inside:
            return False
        function = min(reversed(inside), key=lambda one: one[0])[1]
        made = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}
        made |= {
            one.id
            for one in ast.walk(function)
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        }
        return name not in made

    def function(self, path: str, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Return the function whose first line, decorators included, this is."""
        return self._standing(path).functions.get(line)

    def functions_around(
        self, path: str, line: int
    ) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Return the functions that a line is inside of, the innermost first."""
        around = self._standing(path).around.get(line, ())
        return [one for one in reversed(around) if isinstance(one, FUNCTIONS)]

    def defines(self, path: str, line: int) -> bool:
        """Say whether a line belongs to what defines a function: its decorators, its header."""
        return any(isinstance(one, FUNCTIONS) for one in self.statements(path, line))

    def statements(self, path: str, line: int) -> Iterator[ast.stmt]:
        """Yield the innermost statement at a line."""
        found = self._standing(path).statements.get(line)
        if found is not None:
            yield found

    def ends_interval(self, path: str, line: int, clock: str = "") -> bool:
        """Say whether a clock that is read at a line ends an interval that is measured."""
        tree = self.tree(path)
        if tree is not None and path not in self._intervals:
            self._intervals[path] = Intervals(tree)
        return any(
            self._intervals[path].ends(node, line, clock) for node in self.statements(path, line)
        )

    def throws_away(self, path: str, line: int) -> bool:
        """Say whether a line is a call alone, whose result is not kept."""
        for node in self.statements(path, line):
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(call, ast.Call):
                given = [*call.args, *(one.value for one in call.keywords)]
                inner = (one for each in given for one in ast.walk(each))
                return not any(isinstance(one, ast.Call) for one in inner)
        return False


def _repeats(node: ast.AST, line: int) -> bool:
    """Say whether a line of a loop is in what is repeated, not in what it goes through."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        first = extent(node.body[0])  # the decorators of a function are repeated, too
        return first is not None and line >= first[0]
    return True


def _header(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return node.body[0].lineno - 1


def _called(call: ast.Call) -> str:
    """Return the last part of the name that a call is of."""
    return ast.unparse(call.func).rpartition(".")[2]


def _parts(node: ast.AST) -> Iterator[str]:
    """Yield what stands there as a variable, an attribute or an item, in tuples too."""
    if isinstance(node, (ast.Tuple, ast.List)):
        for one in node.elts:
            yield from _parts(one)
    elif isinstance(node, ast.Starred):
        yield from _parts(node.value)
    elif isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        yield ast.unparse(node)
