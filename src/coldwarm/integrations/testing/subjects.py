"""The function that a test names, found again among what was compiled."""

from __future__ import annotations

import functools
import inspect
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coldwarm.doctor.functions import code_of
from coldwarm.doctor.sites import path_of
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

    from coldwarm.stats.doctor.seen import Call

_TAKES = "assert_no_recompile takes a function under jit, torch.compile or Numba"
_MOST_LAYERS = 32
_LONGEST = 60
_COMPILES = ("lower", "py_func")
"""What the functions have that ``jit`` of JAX, Equinox and Flax returns, and those of Numba."""
_OF_TORCH = ("_torchdynamo_orig_callable", "_orig_mod", "_compiled_call_impl")
_CALLING = ("_wrapped_call_impl", "_call_impl")
"""Methods by which PyTorch calls a module's own."""


@dataclass(frozen=True)
class Subject:
    """A function that somebody wrote, under whatever compiles it."""

    name: str
    code: CodeType
    is_compiled: bool
    """Whether it is given as what compiles it: then it is one, also where nothing was seen."""

    def has(self, call: Call) -> bool:
        """Say whether a call has compiled this function, by the code that somebody wrote.

        PyTorch compiles the rest of a function after a graph break, and what is called from there,
        on its own.
        """
        path = path_of(self.code.co_filename)
        where = call.function.get("path"), call.function.get("line")
        if where[0] is not None and (path_of(where[0]), where[1]) == (
            path,
            self.code.co_firstlineno,
        ):
            return True
        inside = (path, self.code.co_qualname)
        return call.framework == "torch" and any(
            (path_of(one.path), one.function) == inside for one in call.stack
        )

    def unseen(self) -> UsageError:
        """Return what is wrong with a function of which nothing was ever compiled."""
        return UsageError(f"{_TAKES}; of {self.name} nothing has been compiled, as far as was seen")


def subject(function: Any) -> Subject:
    """Return what a test names.

    Raises:
        UsageError: it is no function, or one that cannot be told from others.
    """
    __tracebackhide__ = True
    if not callable(function) or isinstance(function, type):
        raise UsageError(f"{_TAKES}, not {_shown(function)}")
    layers = list(_layers(function))
    code = code_of(layers[-1])
    is_compiled = any(map(_compiles, layers))
    if code is not None:
        return Subject(_named(code), code, is_compiled)
    if is_compiled:
        what = f"assert_no_recompile cannot tell {_shown(function)} from others"
        raise UsageError(f"{what}: it is not written in Python. Leave it out, to look at all")
    raise UsageError(f"{_TAKES}, not {_shown(function)}")


def _layers(function: Any) -> Iterator[Any]:
    """Yield a function, and what is inside of it, down to what somebody wrote."""
    inner = function
    for _ in range(_MOST_LAYERS):
        if inner is None:
            return
        yield inner
        inner = _within(inner)


def _within(function: Any) -> Any:
    """Return what is inside of a function; ``None``: nothing is."""
    module = _of_torch(function)
    if module is not None:
        return getattr(module, "_orig_mod", None) or module.forward
    if isinstance(function, functools.partial) or _is_of_equinox(function):
        return function.func
    if inspect.ismethod(function):
        bound = function.__func__
        return function.__self__ if getattr(bound, "__name__", "") in _CALLING else bound
    if hasattr(function, "__wrapped__"):
        return function.__wrapped__
    if hasattr(function, "__code__"):
        return None
    called = next((vars(one)["__call__"] for one in _classes(function)), None)
    called = getattr(called, "method", called)  # of Equinox
    return called if hasattr(called, "__wrapped__") else None


def _of_torch(function: Any) -> Any:
    """Return a module of PyTorch; ``None``: it is none."""
    found = getattr(sys.modules.get("torch.nn"), "Module", None)
    return function if found is not None and isinstance(function, found) else None


def _is_of_equinox(function: Any) -> bool:
    """Say whether it is a partial function of Equinox: a method that is taken from an object."""
    kind = type(function)
    return kind.__name__ == "Partial" and kind.__module__.partition(".")[0] == "equinox"


def _classes(function: Any) -> Iterator[type]:
    return (one for one in type(function).__mro__ if "__call__" in vars(one))


def _compiles(layer: Any) -> bool:
    if any(callable(getattr(layer, name, None)) for name in _COMPILES):
        return True
    return any(getattr(layer, name, None) is not None for name in _OF_TORCH)


def _named(code: CodeType) -> str:
    return f"{code.co_qualname.replace('<locals>.', '')} ({code.co_filename}:{code.co_firstlineno})"


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
