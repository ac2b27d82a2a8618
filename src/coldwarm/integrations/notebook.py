"""Magics of IPython, after ``%load_ext coldwarm``: ``%%doctor`` and ``%%ttfr``.

IPython is imported by nobody here: it is there where it asks.
"""

from __future__ import annotations

import ast
import keyword
import sys
from dataclasses import dataclass
from importlib import import_module
from inspect import CO_COROUTINE
from io import StringIO
from tokenize import COMMENT, ENDMARKER, NEWLINE, NL, generate_tokens
from typing import TYPE_CHECKING, Any

from coldwarm.errors import ColdwarmError

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator
    from types import CodeType, FrameType

    Compile = Callable[[ast.Module | ast.Expression, str, str], CodeType]


_OF_NO_STATEMENT = {COMMENT, NL, NEWLINE, ENDMARKER}
_NAME = "cell"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MAYBE = (ast.If, ast.For, ast.While, ast.Try, ast.Match)
"""Statements whose insides may not be run at all."""


@dataclass(frozen=True)
class CellCode:
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


def _run(codes: tuple[CodeType, CodeType | None], scope: dict[str, Any]) -> Any:  # noqa: ANN401 - any value
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


_PROCESSES = 3
_AWAITS = (
    "a cell that awaits outside of a function cannot be run so;"
    " with coldwarm.doctor() as d: around its lines can, then print(d)"
)


def load_ipython_extension(shell: Any) -> None:  # noqa: ANN401 - IPython may be any version
    """Give IPython the magics."""
    magics = _Magics(shell)
    shell.register_magic_function(magics.doctor, "cell", "doctor")
    shell.register_magic_function(magics.ttfr, "cell", "ttfr")


class _Magics:
    """Magics that a cell's first line can name."""

    def __init__(self, shell: Any) -> None:  # noqa: ANN401 - as above
        """Work in this shell."""
        self._shell = shell

    def doctor(self, line: str, cell: str) -> Any:  # noqa: ANN401 - what the cell's last line gives
        """Run the cell, and say where its time went and which line to change.

        ``%%doctor NAME`` keeps what is said under a name: ``NAME.report``,
        ``NAME.save("doctor.html")``.
        """
        __tracebackhide__ = True
        name = line.strip()
        if name and (not name.isidentifier() or keyword.iskeyword(name)):
            raise _usage(f"%%doctor {name}: give a name to keep the report under, or nothing")
        body = self._parsed("doctor", cell)
        try:
            codes = body.codes(self._shell.compile)
        except SyntaxError as error:
            if body.awaits:
                raise _usage(f"%%doctor: {_AWAITS}") from None
            raise _of_syntax("doctor", error) from None
        followed = _public("DoctorBlock")()
        try:
            with followed:
                value = _run(codes, self._shell.user_ns)
                return None if is_silent(cell) else value
        finally:
            followed.ran(body.path)
            if name:
                self._shell.user_ns[name] = followed
            import_module("IPython.display").display(followed)

    def ttfr(self, line: str, cell: str) -> Any:  # noqa: ANN401 - a ``coldwarm.BenchResult``
        """Measure the time to the first result of the cell, in fresh processes.

        The first result is the value of the cell's last line. Names of the notebook go with the
        cell by value; what the cell assigns stays in it. ``%%ttfr N`` starts N processes for empty
        and N for filled caches; default: 3.
        """
        __tracebackhide__ = True
        text = line.strip() or str(_PROCESSES)
        if not text.isdecimal() or int(text) < 1:
            raise _usage(f"%%ttfr {text}: give the number of processes, from 1, or nothing")
        body = self._parsed("ttfr", cell)
        try:
            function = body.function(self._shell.user_ns, self._shell.compile)
            if function is not None:
                function.__qualname__ = self._named(body.path)
        except SyntaxError as error:
            raise _of_syntax("ttfr", error) from None
        if function is None:
            raise _usage("%%ttfr: the cell's last line has no value; end it with the first result")
        held = self._shell.user_ns
        given = {name: held[name] for name in body.taken(held)}
        try:
            return _public("Benchmark")(warm=False, processes=int(text))(function, **given)
        except ColdwarmError as error:
            raise _usage(f"%%ttfr: {error}") from None

    def _parsed(self, magic: str, cell: str) -> CellCode:
        """Return a cell as Python reads it, with the line numbers that it has in the notebook."""
        text = "\n" + self._shell.transform_cell(cell)
        path = self._shell.compile.cache(text, self._number())
        try:
            tree = self._shell.transform_ast(ast.parse(text, path))
        except SyntaxError as error:
            raise _of_syntax(magic, error) from None
        return CellCode(tree, path)

    def _number(self) -> int:
        """Return the number of the cell that runs."""
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - who calls is the cell
        while frame is not None:
            found = self._shell.compile.format_code_name(frame.f_code.co_filename)
            digits = "".join(filter(str.isdigit, found[1])) if found else ""
            if digits:
                return int(digits)
            frame = frame.f_back
        return int(self._shell.execution_count)

    def _named(self, path: str) -> str:
        """Return what IPython calls a file: a cell by its number."""
        found = self._shell.compile.format_code_name(path)
        return path if found is None else " ".join(found)


def _public(name: str) -> Any:  # noqa: ANN401 - what users have under this name
    """Return a public name of coldwarm, which is loaded when a cell asks for it."""
    return getattr(import_module("coldwarm"), name)


def _of_syntax(magic: str, error: SyntaxError) -> Exception:
    return _usage(f"%%{magic}: line {error.lineno} of the cell: {error.msg}")


def _usage(text: str) -> Exception:
    """Return an error that IPython shows in one line."""
    error: Exception = import_module("IPython.core.error").UsageError(text)
    return error
