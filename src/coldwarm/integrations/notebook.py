"""Magics of IPython, after ``%load_ext coldwarm``: ``%%doctor`` and ``%%ttfr``.

IPython is imported by nobody here: it is there where it asks.
"""

from __future__ import annotations

import ast
import keyword
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from coldwarm.errors import ColdwarmError
from coldwarm.integrations import cells

if TYPE_CHECKING:
    from types import FrameType

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
    """What a cell can be given to by its first line."""

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
                value = cells.run(codes, self._shell.user_ns)
                return None if cells.is_silent(cell) else value
        finally:
            followed.call(self._named, body.path)
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

    def _parsed(self, magic: str, cell: str) -> cells.Cell:
        """Return a cell as Python reads it, with the line numbers that it has in the notebook."""
        text = "\n" + self._shell.transform_cell(cell)
        path = self._shell.compile.cache(text, self._number())
        try:
            tree = self._shell.transform_ast(ast.parse(text, path))
        except SyntaxError as error:
            raise _of_syntax(magic, error) from None
        return cells.Cell(tree, path)

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
