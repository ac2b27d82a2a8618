"""The source files of a program, as far as findings need them: lines, loops, clocks, calls.

A clock that is read ends a measured interval where an earlier reading is taken from it, and the
difference is a figure: it is printed, kept, returned. A difference that is only held against a
limit decides when something is done, and measures nothing. Pure: the texts are given.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class _Lines:
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


def _lines_of(tree: ast.Module) -> _Lines:
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
        if isinstance(node, _FUNCTIONS):
            functions.setdefault(reach[0], node)
        for line in range(reach[0], reach[1] + 1):
            known = statements.get(line)
            if known is None or reach[1] - reach[0] <= _length(known):
                statements[line] = node
    return _Lines(_around(tree), statements, functions, sorted(stored))


def _around(tree: ast.Module) -> dict[int, list[ast.AST]]:
    found: dict[int, list[ast.AST]] = {}
    nodes: deque[ast.AST] = deque([tree])
    while nodes:
        for child in ast.iter_child_nodes(nodes.popleft()):
            reach = extent(child)
            if reach is None:
                continue
            nodes.append(child)
            if isinstance(child, _FUNCTIONS) or _is_loop(child):
                for line in range(reach[0], reach[1] + 1):
                    found.setdefault(line, []).append(child)
    return found


def _is_loop(node: ast.AST) -> bool:
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


_SAME = {"abs", "float", "int", "max", "min", "round"}
"""Functions that give back such a number as they are given."""
_WAITS = {"sleep", "wait"}
"""Functions that wait for as long as they are told."""
_ADDS = {"append", "appendleft", "add"}
_PAIRS = {"diff", "ediff1d", "pairwise", "zip"}
"""Functions that put what follows each other together."""
_OF_DAY = {"now", "utcnow"}
"""Clocks that may be given a time zone."""


class _Intervals:
    """The clocks of one file."""

    def __init__(self, tree: ast.Module) -> None:
        """Look into a file as Python reads it."""
        self._tree = tree

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {
            child: node for node in ast.walk(self._tree) for child in ast.iter_child_nodes(node)
        }

    @cached_property
    def _minuends(self) -> list[ast.expr]:
        """What something is subtracted from, where the difference is a figure."""
        return [
            one.left
            for one in ast.walk(self._tree)
            if isinstance(one, ast.BinOp)
            and isinstance(one.op, ast.Sub)
            and isinstance(one.left, (ast.Name, ast.Attribute, ast.Subscript))
            and self._is_figure(one, frozenset())
        ]

    @cached_property
    def _paired(self) -> set[str]:
        """Lists of which what follows each other is put together."""
        found: set[str] = set()
        for node in ast.walk(self._tree):
            if not isinstance(node, ast.Call) or _called(node) not in _PAIRS:
                continue
            bases = [
                ast.unparse(_base(one))
                for given in node.args
                for one in (ast.walk(given) if _called(node) != "zip" else (given,))
                if isinstance(one, (ast.Name, ast.Attribute, ast.Subscript))
            ]
            if _called(node) == "zip":
                bases = [one for one, other in pairwise(bases) if one == other]
            found |= set(bases)
        return found

    def ends(self, statement: ast.stmt, line: int, clock: str) -> bool:
        """Say whether a clock that is read at a line of a statement ends an interval."""
        calls = [
            one
            for one in ast.walk(statement)
            if isinstance(one, ast.Call)
            and one.lineno <= line <= (one.end_lineno or one.lineno)
            and (not one.args or _called(one) in _OF_DAY)
        ]
        named = [one for one in calls if _called(one) == clock.rpartition(".")[2]]
        return any(map(self._ends, named or calls))

    def _ends(self, node: ast.expr) -> bool:
        """Say whether a figure is made of what an expression reads from a clock."""
        while True:
            parent = self._parents.get(node)
            match parent:
                case ast.BinOp(op=ast.Sub(), left=left):
                    return left is node and self._is_figure(parent, frozenset())
                case ast.NamedExpr(target=target) if self._is_taken_from(target):
                    return True
                case ast.BinOp(op=ast.Mult() | ast.Div() | ast.FloorDiv()) | ast.IfExp():
                    node = parent
                case ast.NamedExpr() | ast.Tuple() | ast.List():
                    node = parent
                case ast.Call() if _called(parent) in _SAME and node in parent.args:
                    node = parent
                case ast.Call(func=ast.Attribute(value=held, attr=name)) if name in _ADDS:
                    return self._is_paired(held)
                case ast.Assign(targets=targets):
                    return any(map(self._is_taken_from, _targets(targets)))
                case ast.AnnAssign(target=target):
                    return self._is_taken_from(target)
                case _:
                    return False

    def _is_taken_from(self, target: ast.expr) -> bool:
        """Say whether something is subtracted from what is stored there, for a figure."""
        return any(
            _is_same(target, one) and (not isinstance(target, ast.Name) or self._sees(target, one))
            for one in self._minuends
        ) or (isinstance(target, ast.Subscript) and ast.unparse(target.value) in self._paired)

    def _is_paired(self, held: ast.expr) -> bool:
        name = ast.unparse(held)
        return name in self._paired or any(
            isinstance(one, ast.Subscript) and ast.unparse(one.value) == name
            for one in self._minuends
        )

    def _is_figure(self, node: ast.AST, known: frozenset[str]) -> bool:
        """Say whether a difference is more than held against a limit, or waited for.

        ``known`` are names through which it came here.
        """
        parent = self._parents.get(node)
        while parent is not None and _is_as_large(node, parent):
            node, parent = parent, self._parents.get(parent)
        match parent:
            case ast.Call():
                return _called(parent) not in _WAITS
            case ast.Compare() | ast.BoolOp():
                return not self._decides(parent, known)
            case ast.NamedExpr(target=target):
                return self._is_kept(target, known) or self._is_figure(parent, known)
            case ast.Assign(targets=targets):
                return any(self._is_kept(one, known) for one in targets)
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                return self._is_kept(target, known)
        is_test = isinstance(parent, (ast.If, ast.While, ast.IfExp)) and parent.test is node
        return not is_test

    def _decides(self, node: ast.AST, known: frozenset[str]) -> bool:
        """Say whether a comparison is what a branch, a loop or a function's answer rests on."""
        while isinstance(parent := self._parents.get(node), (ast.BoolOp, ast.UnaryOp, ast.Compare)):
            node = parent
        match parent:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                return test is node
            case ast.Return() | ast.comprehension():
                return True
            case ast.Assign(targets=[ast.Name() as target]):
                return not self._is_kept(target, known)
            case _:
                return False

    def _is_kept(self, target: ast.expr, known: frozenset[str]) -> bool:
        """Say whether what is stored there is used as a figure; what nobody uses may be."""
        name = ast.unparse(target)
        if name in known:
            return False
        if isinstance(target, ast.Name):
            uses: list[ast.AST] = [*self._loads(target)]
        elif isinstance(target, ast.Attribute):
            uses = [
                one
                for one in ast.walk(self._tree)
                if isinstance(one, ast.Attribute)
                and one.attr == target.attr
                and isinstance(one.ctx, ast.Load)
            ]
        else:
            return True
        known |= {name}
        return not uses or any(self._is_figure(one, known) for one in uses)

    def _loads(self, target: ast.Name) -> Iterator[ast.Name]:
        """Yield where a variable is read."""
        for one in ast.walk(self._tree):
            match one:
                case ast.Name(id=name, ctx=ast.Load()) if name == target.id:
                    if self._sees(target, one):
                        yield one

    def _sees(self, target: ast.Name, use: ast.AST) -> bool:
        """Say whether a name means the variable that is stored at another place."""
        stored = self._scope(target, target.id)
        return self._scope(use, target.id) is stored

    def _scope(self, node: ast.AST, name: str) -> ast.AST:
        """Return the function whose variable a name is, or the module."""
        while (parent := self._parents.get(node)) is not None:
            node = parent
            if isinstance(node, (*_FUNCTIONS, ast.Lambda)) and _makes(node, name):
                return node
        return node


def _is_as_large(node: ast.AST, parent: ast.AST) -> bool:
    """Say whether an expression is as good a figure as a part of it is."""
    match parent:
        case ast.BinOp() | ast.UnaryOp() | ast.Attribute() | ast.Starred():
            return True
        case ast.IfExp(test=test):
            return test is not node
        case ast.Call(func=func):
            return func is node or _called(parent) in _SAME
    return False


def _makes(function: ast.AST, name: str) -> bool:
    """Say whether a name is a variable of a function's own."""
    outside = False
    found = False
    for one in _own(function):
        match one:
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                outside = outside or name in names
            case ast.arg(arg=own) | ast.Name(id=own, ctx=ast.Store()):
                found = found or own == name
    return found and not outside


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a function, and not in functions inside of it."""
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            yield from _own(child)


def _is_same(target: ast.expr, other: ast.expr) -> bool:
    """Say whether what is stored in one may be what the other is.

    Objects go by several names, and an item may be any other, where its key is not written out.
    """
    match target, other:
        case ast.Attribute(attr=one), ast.Attribute(attr=two):
            return one == two
        case ast.Subscript(slice=one), ast.Subscript(slice=two):
            if isinstance(one, ast.Constant) and isinstance(two, ast.Constant):
                return ast.unparse(target) == ast.unparse(other)
            return ast.unparse(target.value) == ast.unparse(other.value)
    return ast.unparse(target) == ast.unparse(other)


def _base(node: ast.AST) -> ast.AST:
    """Return what an item or a slice is of."""
    return node.value if isinstance(node, ast.Subscript) else node


def _targets(targets: list[ast.expr]) -> Iterator[ast.expr]:
    """Yield where something is stored, also where several things are at once."""
    for one in targets:
        if isinstance(one, (ast.Tuple, ast.List)):
            yield from _targets(one.elts)
        else:
            yield one


def _called(call: ast.Call) -> str:
    """Return the last part of the name that a call is of."""
    return ast.unparse(call.func).rpartition(".")[2]


_STATEMENTS = (ast.For, ast.While, ast.AsyncFor)


@dataclass
class SourceFiles:
    """Files by path; those that are missing or no Python are known not to be."""

    texts: Mapping[str, str]
    _trees: dict[str, ast.Module | None] = field(default_factory=dict)
    _intervals: dict[str, _Intervals] = field(default_factory=dict)
    _split: dict[str, list[str]] = field(default_factory=dict)
    _files: dict[str, _Lines] = field(default_factory=dict)
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

    def _standing(self, path: str) -> _Lines:
        if path not in self._files:
            tree = self.tree(path)
            self._files[path] = _lines_of(tree) if tree is not None else _Lines()
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
            if isinstance(node, _FUNCTIONS):
                found = None if line > _header(node) else found
            elif _is_loop(node) and _repeats(node, line):
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
                if alone or _called2(call) == function:
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
        named = [one for one in calls if _called2(one) == function]
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
            is_function = isinstance(node, (*_FUNCTIONS, ast.Lambda))
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
        return [one for one in reversed(around) if isinstance(one, _FUNCTIONS)]

    def defines(self, path: str, line: int) -> bool:
        """Say whether a line belongs to what defines a function: its decorators, its header."""
        return any(isinstance(one, _FUNCTIONS) for one in self.statements(path, line))

    def statements(self, path: str, line: int) -> Iterator[ast.stmt]:
        """Yield the innermost statement at a line."""
        found = self._standing(path).statements.get(line)
        if found is not None:
            yield found

    def ends_interval(self, path: str, line: int, clock: str = "") -> bool:
        """Say whether a clock that is read at a line ends an interval that is measured."""
        tree = self.tree(path)
        if tree is not None and path not in self._intervals:
            self._intervals[path] = _Intervals(tree)
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


def _called2(call: ast.Call) -> str:
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
