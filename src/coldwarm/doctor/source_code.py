"""The source files of a program, as far as findings need them: lines, loops, clocks, calls.

A clock that is read ends a measured interval where an earlier reading is taken from it, and the
difference is a figure: it is printed, kept, returned. A difference that is only held against a
limit decides when something is done, and measures nothing. Pure: the texts are given.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections import deque
from contextlib import suppress
from functools import cached_property
from io import StringIO
from itertools import pairwise, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Extent = tuple[int, int]
    """The first and the last line of something."""
    Function = ast.FunctionDef | ast.AsyncFunctionDef
    Repeating = ast.For | ast.While | ast.comprehension


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
_AS_LONG = {"enumerate", "reversed"}
"""Functions that give as many as they are given first."""


class _File:
    """What stands at the lines of one file; of what is no Python, nothing."""

    def __init__(self, text: str) -> None:
        """Read its text as Python does."""
        # Not by ``splitlines``: a line of Python goes on over a form feed.
        self.lines = list(StringIO(text))
        self.tree: ast.Module | None = None
        self.statements: dict[int, ast.stmt] = {}
        """By line: the innermost statement."""
        self.functions: dict[int, Function] = {}
        """By their first line, decorators included."""
        self._stored: list[tuple[int, str]] = []
        """Names that are assigned, by line."""
        self._loops: dict[int, Extent | None] = {}
        with suppress(SyntaxError, ValueError, RecursionError):
            self.tree = ast.parse(text)
        for node in self.nodes():
            reach = extent(node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._stored.append((node.lineno, node.id))
            if not isinstance(node, ast.stmt) or reach is None:
                continue
            if isinstance(node, _FUNCTIONS):
                self.functions.setdefault(reach[0], node)
            for line in range(reach[0], reach[1] + 1):
                known = self.statements.get(line)
                if known is None or reach[1] - reach[0] <= _length(known):
                    self.statements[line] = node
        self._stored.sort()

    def nodes(self) -> Iterator[ast.AST]:
        """Yield all that is in it."""
        yield from ast.walk(self.tree) if self.tree is not None else ()

    @cached_property
    def around(self) -> dict[int, list[ast.AST]]:
        """By line: the loops and functions that it is inside of, the outermost first."""
        return _around(self.tree) if self.tree is not None else {}

    @cached_property
    def intervals(self) -> _Intervals | None:
        """Its clocks."""
        return _Intervals(self.tree) if self.tree is not None else None

    def stored_between(self, first: int, last: int) -> set[str]:
        """Return the names that lines assign, loop variables among them."""
        begin = bisect_left(self._stored, (first, ""))
        return {name for _, name in self._stored[begin : bisect_left(self._stored, (last + 1, ""))]}

    def loop(self, line: int) -> Extent | None:
        """Return the extent of the innermost loop that a line is in, of its own function."""
        if line not in self._loops:
            found: Extent | None = None
            for node in self.around.get(line, ()):
                if isinstance(node, _FUNCTIONS):
                    found = None if line > _header(node) else found
                elif _is_loop(node) and _repeats(node, line):
                    inside = found is not None and not isinstance(node, _STATEMENTS)
                    found = found if inside else extent(node)
            self._loops[line] = found
        return self._loops[line]


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
_UNITS = {60, 3600, 1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9}
"""What seconds are divided by to be told in another unit."""
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Assert, ast.Delete)
"""Statements that contain no others."""
_WORD = re.compile("[a-z]+")


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
        """Values that something is subtracted from, where the difference is a figure."""
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
            if not isinstance(node, ast.Call) or called(node) not in _PAIRS:
                continue
            bases = [
                ast.unparse(_base(one))
                for given in node.args
                for one in (ast.walk(given) if called(node) != "zip" else (given,))
                if isinstance(one, (ast.Name, ast.Attribute, ast.Subscript))
            ]
            if called(node) == "zip":
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
            and (not one.args or called(one) in _OF_DAY)
        ]
        named = [one for one in calls if called(one) == clock.rpartition(".")[2]]
        return any(map(self._ends, named or calls))

    def _figures(self, statement: ast.stmt, line: int) -> Iterator[ast.AST]:
        """Yield the differences that a clock which is read at a line of a statement is part of."""
        within = [one for one in ast.walk(statement) if isinstance(one, ast.BinOp)]
        yield from (
            one
            for one in within
            if isinstance(one.op, ast.Sub) and one.lineno <= line <= (one.end_lineno or line)
        )
        targets = _targets(getattr(statement, "targets", []))
        for target in targets:
            yield from (self._parents[one] for one in self._minuends if _is_same(target, one))

    def _flows(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Yield where a figure goes: what it is part of, and itself as it is there."""
        known: set[str] = set()
        left = [node]
        while left:
            node = left.pop()
            parent = self._parents.get(node)
            while parent is not None:
                yield parent, node
                if not _is_as_large(node, parent):
                    break
                node, parent = parent, self._parents.get(parent)
            for target in _targets(
                [*getattr(parent, "targets", []), *filter(None, [getattr(parent, "target", None)])]
            ):
                name = ast.unparse(target)
                if name not in known:
                    known.add(name)
                    left += self._uses(target)

    def is_rate(self, statement: ast.stmt, line: int) -> bool:
        """Say whether a figure is divided, or divides: so many in a second, or seconds for each.

        Seconds in another unit are no rate.
        """
        return any(
            isinstance(parent, ast.BinOp)
            and isinstance(parent.op, (ast.Div, ast.FloorDiv))
            and not (parent.left is node and _is_unit(parent.right))
            for figure in self._figures(statement, line)
            for parent, node in self._flows(figure)
        )

    def is_mean(self, statement: ast.stmt, line: int) -> bool:
        """Say whether a figure is added to a sum that is divided, or divides."""
        sums = {
            ast.unparse(parent.target)
            for figure in self._figures(statement, line)
            for parent, _ in self._flows(figure)
            if isinstance(parent, ast.AugAssign) and isinstance(parent.op, ast.Add)
        }
        return any(
            isinstance(one, ast.BinOp)
            and isinstance(one.op, ast.Div)
            and not _is_unit(one.right)
            and not sums.isdisjoint(map(ast.unparse, _factors(one)))
            for one in (ast.walk(self._tree) if sums else ())
        )

    def words(self, statement: ast.stmt, line: int) -> set[str]:
        """Return the words of the statements that a figure goes through, in small letters."""
        statements = {statement}
        for figure in self._figures(statement, line):
            for parent, _ in self._flows(figure):
                node: ast.AST | None = parent
                while node is not None and not isinstance(node, ast.stmt):
                    node = self._parents.get(node)
                if isinstance(node, _SIMPLE):
                    statements.add(node)
        return {word for one in statements for word in _WORD.findall(ast.unparse(one).lower())}

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
                case ast.Call() if called(parent) in _SAME and node in parent.args:
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
                return called(parent) not in _WAITS
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
        if not isinstance(target, (ast.Name, ast.Attribute)):
            return True
        uses = self._uses(target)
        known |= {name}
        return not uses or any(self._is_figure(one, known) for one in uses)

    def _uses(self, target: ast.expr) -> list[ast.AST]:
        """Return where a variable or an attribute is read; of others that is not known."""
        if isinstance(target, ast.Name):
            return [*self._loads(target)]
        return [
            one
            for one in ast.walk(self._tree)
            if isinstance(target, ast.Attribute)
            and isinstance(one, ast.Attribute)
            and one.attr == target.attr
            and isinstance(one.ctx, ast.Load)
        ]

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


def _is_unit(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in _UNITS


def _factors(node: ast.expr) -> list[ast.expr]:
    """Return what a product is of, or the expression itself."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _is_as_large(node: ast.AST, parent: ast.AST) -> bool:
    """Say whether an expression is as good a figure as a part of it is."""
    match parent:
        case ast.BinOp() | ast.UnaryOp() | ast.Attribute() | ast.Starred():
            return True
        case ast.IfExp(test=test):
            return test is not node
        case ast.Call(func=func):
            return func is node or called(parent) in _SAME
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


def called(call: ast.Call) -> str:
    """Return the last part of the name that a call is of."""
    return ast.unparse(call.func).rpartition(".")[2]


def variables(node: ast.AST) -> set[str]:
    """Return the variables that stand in code."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def stored(node: ast.AST) -> set[str]:
    """Return the variables that code stores; items and attributes are left aside."""
    return {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


def changed(node: ast.AST) -> set[str]:
    """Return the variables that a node itself stores, or changes in place.

    Methods of PyTorch's that change what they are of end with an underscore.
    """
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return {node.id}
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return variables(node.value)
    if isinstance(node, ast.Call) and called(node).endswith("_"):
        return variables(node.func)
    return set()


def changed_in_place(code: ast.AST) -> set[str]:
    """Return the variables whose items, attributes or numbers code changes, not all it stores."""
    found: set[str] = set()
    for node in ast.walk(code):
        if isinstance(node, ast.AugAssign):
            found |= variables(node.target)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found |= variables(node.value)
        elif not isinstance(node, ast.Name):
            found |= changed(node)
    return found


def only_assignment(nodes: Iterable[ast.AST], name: str) -> ast.Assign | None:
    """Return the statement that makes a variable; ``None``: others do, or change it, too."""
    changing = 0
    found = []
    for one in nodes:
        changing += name in changed(one)
        if isinstance(one, ast.Assign) and [name] == [ast.unparse(each) for each in one.targets]:
            found.append(one)
    return found[0] if changing == len(found) == 1 else None


def is_installed(path: str) -> bool:
    """Say whether a file is of an installed package."""
    return any(part in path for part in _INSTALLED)


_STATEMENTS = (ast.For, ast.While, ast.AsyncFor)
_INSTALLED = ("/site-packages/", "/dist-packages/")
_PRINTS = {"print", "info", "debug"}


class SourceFiles:
    """Files by path; those that are missing or no Python are known not to be."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Have these texts."""
        self._texts = texts
        self._files: dict[str, _File] = {}

    @property
    def paths(self) -> list[str]:
        """The program's own files: those that were seen to run, and what these import."""
        return sorted(one for one in self._texts if not is_installed(one))

    def _file(self, path: str) -> _File:
        if path not in self._files:
            self._files[path] = _File(self._texts.get(path, ""))
        return self._files[path]

    def line(self, path: str, number: int) -> str:
        """Return a line without its indentation; empty where there is none."""
        rows = self._file(path).lines
        return rows[number - 1].strip() if 0 < number <= len(rows) else ""

    def nodes(self, path: str) -> Iterator[ast.AST]:
        """Yield all that is in a file, as Python reads it."""
        return self._file(path).nodes()

    def loop(self, path: str, line: int) -> Extent | None:
        """Return the extent of the innermost loop that a line is in, of its own function.

        A comprehension inside of a loop is a part of that loop's turns.
        """
        return self._file(path).loop(line)

    def repeating(self, path: str, line: int) -> Repeating | None:
        """Return the innermost loop that repeats a line; of a comprehension its first ``for``.

        ``None``: there is none, or it is another call that repeats, such as ``reduce``.
        """
        reach = self.loop(path, line)
        for node in self.nodes(path) if reach is not None else ():
            if _is_loop(node) and extent(node) == reach:
                part = next(iter(getattr(node, "generators", [node])))
                return part if isinstance(part, (ast.For, ast.While, ast.comprehension)) else None
        return None

    def replaced(self, path: str, line: int, function: str) -> set[str]:
        """Return what a line gives to a call of a function and assigns what comes back to.

        The call is all that is assigned. With other calls in its arguments it must name the
        function: it may not be told otherwise which of them is meant.
        """
        node = self.statement(path, line)
        call = node.value if isinstance(node, ast.Assign) else None
        if not isinstance(node, ast.Assign) or not isinstance(call, ast.Call):
            return set()
        alone = sum(isinstance(one, ast.Call) for one in ast.walk(call)) == 1
        if not alone and called(call) != function:
            return set()
        targets = {name for target in node.targets for name in parts_of(target)}
        return targets & {name for each in call.args for name in parts_of(each)}

    def also_called(self, path: str) -> set[str]:
        """Return the variables and attributes of a file that get a second name somewhere."""
        values = [
            one.value
            for one in self.nodes(path)
            if isinstance(one, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and one.value
        ]
        return {name for one in values for name in parts_of(one)}

    def given(self, path: str, line: int, function: str) -> list[ast.expr]:
        """Return what a call of a function at a line is given by position.

        Where none has its name, those of the first call.
        """
        node = self.statement(path, line)
        calls = [
            one
            for one in (ast.walk(node) if node is not None else ())
            if isinstance(one, ast.Call) and one.args and one.lineno == line
        ]
        named = [one for one in calls if called(one) == function]
        return list(one.args) if (one := next(iter(named or calls), None)) else []

    def assigned_between(self, path: str, first: int, last: int) -> set[str]:
        """Return the names that lines assign, loop variables among them."""
        return self._file(path).stored_between(first, last)

    def takes_from_around(self, path: str, line: int, name: str) -> bool:
        """Say whether the innermost function at a line takes a name from outside of it."""
        inside: list[tuple[int, ast.AST]] = []
        for node in self.nodes(path):
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

    def imported_from(self, path: str, name: str) -> str:
        """Return the module from which a file imports a name; empty: from none."""
        for node in self.nodes(path):
            if isinstance(node, ast.ImportFrom) and name in {
                one.asname or one.name for one in node.names
            }:
                return node.module or ""
        return ""

    def imports(self, path: str, package: str) -> bool:
        """Say whether a file imports a package, or something of it."""
        for node in self.nodes(path):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            if any(one.partition(".")[0] == package for one in names):
                return True
        return False

    def function(self, path: str, line: int) -> Function | None:
        """Return the function whose first line, decorators included, this is."""
        return self._file(path).functions.get(line)

    def functions_around(self, path: str, line: int) -> list[Function]:
        """Return the functions that a line is inside of, the innermost first."""
        around = self._file(path).around.get(line, ())
        return [one for one in reversed(around) if isinstance(one, _FUNCTIONS)]

    def defines(self, path: str, line: int) -> bool:
        """Say whether a line belongs to what defines a function: its decorators, its header."""
        return isinstance(self.statement(path, line), _FUNCTIONS)

    def statement(self, path: str, line: int) -> ast.stmt | None:
        """Return the innermost statement at a line."""
        return self._file(path).statements.get(line)

    def ends_interval(self, path: str, line: int, clock: str = "") -> bool:
        """Say whether a clock that is read at a line ends an interval that is measured."""
        node, intervals = self.statement(path, line), self._file(path).intervals
        return node is not None and intervals is not None and intervals.ends(node, line, clock)

    def is_rate(self, path: str, line: int) -> bool:
        """Say whether an interval that ends at a line is divided by, or divided, for a rate."""
        node, intervals = self.statement(path, line), self._file(path).intervals
        return node is not None and intervals is not None and intervals.is_rate(node, line)

    def is_mean(self, path: str, line: int) -> bool:
        """Say whether intervals that end at a line are added up, for a mean or a rate."""
        node, intervals = self.statement(path, line), self._file(path).intervals
        return node is not None and intervals is not None and intervals.is_mean(node, line)

    def words_of_interval(self, path: str, line: int) -> set[str]:
        """Return the words with which an interval that ends at a line is kept and told.

        Also those of the name of the function that it is in.
        """
        node, intervals = self.statement(path, line), self._file(path).intervals
        if node is None or intervals is None:
            return set()
        around = self.functions_around(path, line)[:1]
        named = {word for one in around for word in one.name.lower().split("_")}
        return named | intervals.words(node, line)

    def n_statements(self, path: str, first: int, last: int) -> int:
        """Return how many simple statements lie between two lines."""
        return sum(
            isinstance(one, _SIMPLE) and first < one.lineno < last for one in self.nodes(path)
        )

    def calls_of(self, path: str, function: Function | None) -> list[ast.Call]:
        """Return the calls of a function, without those of functions inside; ``None``: a module."""
        inside = self._file(path).tree if function is None else function
        nodes = _own(inside) if inside is not None else ()
        return [one for one in nodes if isinstance(one, ast.Call)]

    def goes_through(self, path: str, loop: Extent) -> tuple[set[str], list[ast.expr]]:
        """Return the variables of a loop, or a comprehension, and what it goes through."""
        for node in self.nodes(path):
            if _is_loop(node) and extent(node) == loop:
                parts = [node] if isinstance(node, ast.For) else getattr(node, "generators", [])
                names = {name for one in parts for name in variables(one.target)}
                return names, [one.iter for one in parts]
        return set(), []

    def turns(self, path: str, loop: ast.For | ast.comprehension) -> int | None:
        """Return how many turns a loop has, as its file says; ``None``: it does not.

        Where the file says several, the most.
        """
        given = loop.iter
        while isinstance(given, ast.Call) and called(given) in _AS_LONG and given.args:
            given = given.args[0]
        if isinstance(given, (ast.Tuple, ast.List)):
            is_written = not any(isinstance(one, ast.Starred) for one in given.elts)
            return len(given.elts) if is_written else None
        if not isinstance(given, ast.Call) or not given.args:
            return None
        values = [self._whole_numbers(path, one) for one in given.args]
        if called(given) != "range" or len(given.args) == 1:
            return max(values[-1], default=None)
        if len(given.args) == len(("start", "stop")) and not values[0]:
            return max(values[1], default=None)  # not more than these, from no less than 0
        ranges = [range(*one) for one in product(*values) if one[2:] != (0,)]
        return max(map(len, ranges), default=None)

    def _whole_numbers(self, path: str, node: ast.expr) -> list[int]:
        """Return the whole numbers that something may be: as written, assigned, or by default."""
        values, last = [node], ast.unparse(node).rpartition(".")[2]
        for one in self.nodes(path):
            if isinstance(one, ast.Assign) and [last] == [*map(ast.unparse, one.targets)]:
                values.append(one.value)
            elif isinstance(one, ast.arguments):
                named = one.args[len(one.args) - len(one.defaults) :]
                pairs = zip(named, one.defaults, strict=True)
                values += [value for argument, value in pairs if argument.arg == last]
        found: list[int] = []
        for value in values:
            match value:
                case ast.Constant(value=int(number)):
                    found.append(number)
                case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                    found.append(-number)
        return found

    def prints_between(self, path: str, first: int, last: int) -> bool:
        """Say whether a program prints something between two lines."""
        return any(
            isinstance(one, ast.Call)
            and first < one.lineno < last
            and (one.end_lineno or 0) < last
            and called(one) in _PRINTS
            for one in self.nodes(path)
        )

    def calls_at(self, path: str, line: int) -> list[ast.Call]:
        """Return the calls that a line is a part of."""
        return [
            node
            for node in self.nodes(path)
            if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or 0)
        ]

    def is_called_for_nothing(self, path: str, line: int, function: str) -> bool:
        """Say whether a line is a call of a function, waited for or not, that keeps no result."""
        node = self.statement(path, line)
        call = node.value if isinstance(node, ast.Expr) else None
        while isinstance(call, ast.Call) and called(call) == "block_until_ready":
            inner = call.func.value if isinstance(call.func, ast.Attribute) else None
            call = call.args[0] if call.args else inner
        return isinstance(call, ast.Call) and called(call) == function

    def throws_away(self, path: str, line: int) -> bool:
        """Say whether a line is a call alone, whose result is not kept."""
        node = self.statement(path, line)
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call):
            return False
        given = [*call.args, *(one.value for one in call.keywords)]
        inner = (one for each in given for one in ast.walk(each))
        return not any(isinstance(one, ast.Call) for one in inner)


def _repeats(node: ast.AST, line: int) -> bool:
    """Say whether a line of a loop is in what is repeated, not in what it goes through."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        first = extent(node.body[0])  # the decorators of a function are repeated, too
        return first is not None and line >= first[0]
    return True


def _header(node: Function) -> int:
    return node.body[0].lineno - 1


def parts_of(node: ast.AST) -> Iterator[str]:
    """Yield what stands there as a variable, an attribute or an item, in tuples too."""
    if isinstance(node, (ast.Tuple, ast.List)):
        for one in node.elts:
            yield from parts_of(one)
    elif isinstance(node, ast.Starred):
        yield from parts_of(node.value)
    elif isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        yield ast.unparse(node)
