"""A cell of a notebook as Python reads it: run where it stands, or made a function."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from inspect import CO_COROUTINE
from io import StringIO
from tokenize import COMMENT, ENDMARKER, NEWLINE, NL, generate_tokens
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator
    from types import CodeType

    Compile = Callable[[ast.Module | ast.Expression, str, str], CodeType]

_OF_NO_STATEMENT = {COMMENT, NL, NEWLINE, ENDMARKER}
_NAME = "cell"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MAYBE = (ast.If, ast.For, ast.While, ast.Try, ast.Match)
"""Statements whose insides may not be run at all."""


@dataclass(frozen=True)
class Cell:
    """The statements of a cell."""

    tree: ast.Module
    path: str

    def codes(self, compiled: Compile) -> tuple[CodeType, CodeType | None]:
        """Return what is to be run, and what then gives the value of the last line, if any.

        Raises:
            SyntaxError: it cannot be run where it stands.
        """
        body, value = self._parts()
        code = compiled(ast.Module(body, []), self.path, "exec")
        if value is None:
            return code, None
        return code, compiled(ast.Expression(value), self.path, "eval")

    @property
    def awaits(self) -> bool:
        """Whether it waits outside of a function, as a notebook allows."""
        try:
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            code: CodeType = compile(self.tree, self.path, "exec", flags)
        except SyntaxError:
            return False
        return bool(code.co_flags & CO_COROUTINE)

    def function(self, scope: dict[str, Any], compiled: Compile) -> Callable[..., Any] | None:
        """Return it as a function of the names that it takes; ``None``: it has no value.

        Raises:
            SyntaxError: it cannot be the body of a function.
        """
        body, value = self._parts()
        if value is None:
            return None
        names = ", ".join(self.taken(scope))
        (made,) = ast.parse(f"def {_NAME}({names}): pass", self.path).body
        vars(made)["body"] = [*body, ast.copy_location(ast.Return(value), value)]
        held: dict[str, Any] = {}
        exec(compiled(ast.Module([made], []), self.path, "exec"), scope, held)  # noqa: S102 - as above
        function: Callable[..., Any] = held[_NAME]
        return function

    def _parts(self) -> tuple[list[ast.stmt], ast.expr | None]:
        """Return its statements, and the expression that is the last of them."""
        *body, last = self.tree.body or [ast.Pass()]
        return (body, last.value) if isinstance(last, ast.Expr) else ([*body, last], None)

    def taken(self, scope: Container[str]) -> list[str]:
        """Return the names that it assigns, and may read before: values that are there already."""
        assigned = {name for one in self.tree.body for name in _assigned(one)}
        bound: set[str] = set()
        found: dict[str, None] = {}
        for one in self.tree.body:
            read = [name for name in _read(one) if name in assigned and name not in bound]
            found |= dict.fromkeys(name for name in read if name in scope)
            if not isinstance(one, _MAYBE):
                bound |= set(_assigned(one))
        return list(found)


def run(codes: tuple[CodeType, CodeType | None], scope: dict[str, Any]) -> Any:  # noqa: ANN401 - any value
    """Execute a cell; return the value of its last line, where that is an expression."""
    __tracebackhide__ = True
    code, value = codes
    exec(code, scope)  # noqa: S102 - the user's cell
    return None if value is None else eval(value, scope)  # noqa: S307 - as above


def is_silent(text: str) -> bool:
    """Say whether a cell ends with a semicolon: a notebook then shows no value."""
    tokens = generate_tokens(StringIO(text).readline)
    said = [one.string for one in tokens if one.type not in _OF_NO_STATEMENT]
    return said[-1:] == [";"]


def _assigned(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds where it stands."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
        return
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (one.asname or one.name.partition(".")[0] for one in node.names)
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, (ast.Lambda, *_COMPREHENSIONS)):
        return  # names of its own
    for child in ast.iter_child_nodes(node):
        yield from _assigned(child)


def _read(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement reads when it is run, not when a function of it is."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    if not isinstance(node, _FUNCTIONS):
        for child in ast.iter_child_nodes(node):
            yield from _read(child)
