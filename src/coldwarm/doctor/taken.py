"""What a function takes from around it: numbers and texts, and arrays. Nothing of it is kept."""

import dis
import functools
from itertools import islice
from types import FunctionType

from coldwarm.doctor import sites
from coldwarm.doctor.signatures import fixed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any

_LARGE_BYTES = 2**20
"""Of an array that is worth a word."""
_MOST_WRAPPERS = 8
_LONGEST = 10_000
"""Characters of a text that is compared."""
_MOST_PARTS = 16
"""Of a list or a dictionary that are looked at."""
_PLAIN = (bool, int, float, str, bytes, type(None))
_FROM_MODULE = {"LOAD_GLOBAL", "LOAD_NAME"}


class Taken:
    """What one function object takes from around it."""

    __slots__ = ("_arrays", "_held")

    def __init__(self, function: "Any") -> None:
        """Look at a function, inside of partials and wrappers."""
        found = _around(function)
        for value in list(found.values()):
            inner = _written(value)
            if inner is not None:
                found = {**_closure(inner), **found}
        self._held = {name: fixed(name, one) for name, one in found.items() if _is_plain(one)}
        self._arrays = {name: id(one) for name, one in found.items() if _has_arrays(one)}

    def since(self, before: "Taken") -> "dict[str, Any]":
        """Return what was otherwise in an earlier one: by ``held``, and names by ``taken``."""
        held, arrays = self._held, self._arrays
        return {
            "held": [
                {"argument": name, "before": value, "now": held[name]}
                for name, value in before._held.items()
                if held.get(name, value) != value
            ],
            "taken": [name for name, at in before._arrays.items() if arrays.get(name, at) != at],
        }


def _written(value: "Any") -> "Any":
    """Return the function of Python's that this is, or that Numba has made it of."""
    if isinstance(value, FunctionType):
        return value
    is_numbas = type(value).__module__.partition(".")[0] == "numba"
    return getattr(value, "py_func", None) if is_numbas else None


def _is_plain(value: "Any") -> bool:
    """Say whether it is a number, or a text that is soon written."""
    is_long = isinstance(value, (str, bytes)) and len(value) > _LONGEST
    return isinstance(value, _PLAIN) and not is_long


def _has_arrays(value: "Any", depth: int = 2) -> bool:
    """Say whether it is an array, or what holds some. Nothing of the user's is asked."""
    kind = type(value)
    if hasattr(kind, "shape") and hasattr(kind, "dtype"):
        return True
    parts = dict.values(value) if issubclass(kind, dict) else value
    if not depth or not issubclass(kind, (dict, list, tuple)):
        return False
    return any(_has_arrays(one, depth - 1) for one in islice(parts, _MOST_PARTS))


def _around(function: "Any") -> "dict[str, Any]":
    """Return what a function takes from around it: by partials, its closure and its module."""
    found: dict[str, Any] = {}
    for one in _unwrapped(function):
        if isinstance(one, functools.partial):
            found |= {f"argument {at}": value for at, value in enumerate(one.args, 1)}
            found |= one.keywords
        found |= _closure(one)
        code = getattr(one, "__code__", None)
        if code is not None and sites.is_users(code):
            names = getattr(one, "__globals__", {})
            found |= {name: names[name] for name in _from_module(code) if name in names}
    return found


def _unwrapped(function: "Any") -> "Iterator[Any]":
    for _ in range(_MOST_WRAPPERS):
        yield function
        inner = getattr(function, "func", getattr(function, "__wrapped__", None))
        if inner is None or not callable(inner):
            return
        function = inner


@functools.lru_cache(maxsize=1024)
def _from_module(code: "CodeType") -> "frozenset[str]":
    """Return the names that code looks up in its module."""
    return frozenset(one.argval for one in dis.get_instructions(code) if one.opname in _FROM_MODULE)


def _closure(function: "Any") -> "dict[str, Any]":
    """Return what a function takes from the functions around it, by name."""
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    found: dict[str, Any] = {}
    for name, cell in zip(names, getattr(function, "__closure__", None) or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # an empty cell
            continue
    return found


def captured(function: "Any") -> "list[str]":
    """Return the names of large arrays that a function takes from around it."""
    *_, function = _unwrapped(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    found = {name: getattr(function, "__globals__", {}).get(name) for name in code.co_names}
    found |= _closure(function)
    return [name for name, value in found.items() if _n_bytes(value) >= _LARGE_BYTES]


def _n_bytes(value: "Any") -> int:
    n_bytes = getattr(value, "nbytes", 0)
    return n_bytes if isinstance(n_bytes, int) else 0
