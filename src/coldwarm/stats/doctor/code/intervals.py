"""Whether a clock that is read ends a measured interval, by the text of its file. Pure.

An earlier reading is taken from it, and the difference is a figure: it is printed, kept, returned.
A difference that is only held against a limit decides when something is done, and measures nothing.
"""

from __future__ import annotations

import ast
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from coldwarm.stats.doctor.code.lines import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

_SAME = {"abs", "float", "int", "max", "min", "round"}
"""Functions that give back such a number as they are given."""
_WAITS = {"sleep", "wait"}
"""Functions that wait for as long as they are told."""
_ADDS = {"append", "appendleft", "add"}
_PAIRS = {"diff", "ediff1d", "pairwise", "zip"}
"""Functions that put what follows each other together."""
_OF_DAY = {"now", "utcnow"}
"""Clocks that may be given a time zone."""


class Intervals:
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
            if isinstance(node, (*FUNCTIONS, ast.Lambda)) and _makes(node, name):
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
        if not isinstance(child, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
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
