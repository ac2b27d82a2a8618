"""The functions that were compiled in a process, and what each was compiled for."""

import functools
import inspect
import weakref

from coldwarm.doctor import causes, sites
from coldwarm.doctor.taken import Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from coldwarm.doctor.signatures import Signature

    Cause = dict[str, Any]

_KEPT = 16
"""Signatures of one function that later ones are compared with, the last ones."""
_OPERATION = "prim_fun"
"""How JAX calls the function of an operation outside of ``jit``."""
_MOST_KNOWN = 4096
"""Function objects from which on those that are gone are forgotten."""
_MOST_OBJECTS = 256
"""Function objects of one code that are compared with."""


class _Known:
    """One function object, and what the user wrote inside of it; or one operation."""

    def __init__(self, function: "Any", inner: "Any" = None) -> None:
        self.signatures: list[Signature] = []
        self.taken = Taken(inner or function)
        self._refs = [_ref(function), _ref(inner)]

    def is_of(self, function: "Any", inner: "Any") -> bool:
        """Say whether these are the same objects."""
        return self._refs[0]() is function and self._refs[1]() is inner

    def is_gone(self) -> bool:
        """Say whether the function object is no more."""
        return self._refs[0]() is None

    def add(self, signature: "Signature") -> None:
        self.signatures.append(signature)
        del self.signatures[:-_KEPT]


def _ref(kept: "Any") -> "Any":
    """Return what gives an object as long as it is there."""
    try:
        return weakref.ref(kept)
    except TypeError:
        return lambda: kept  # it cannot go while it is kept here


class Functions:
    """What has been compiled so far, to be compared with."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._by_object: dict[tuple[int, int], _Known] = {}
        self._by_code: dict[CodeType, list[_Known]] = {}
        self._operations: dict[str, _Known] = {}
        self._n_objects: dict[CodeType, int] = {}

    def cause(
        self, function: "Any", name: str, signature: "Signature", inner: "Any" = None
    ) -> "Cause":
        """Return why a call is compiled, and remember what it is compiled for.

        ``inner`` is what the user wrote, where ``function`` is a package's own around it.

        ``kind`` is ``first``, ``again`` (with ``differences``; empty where nothing that is known
        differs), ``new_function`` (the same code in another function object, with the number of
        these so far, and of those that are still there), or ``operation`` (one outside of ``jit``).
        """
        if is_operation(function):
            known = self._operations.setdefault(name, _Known(function))
            return self._compared(known, signature, "operation")
        key = id(function), id(inner)
        known = self._by_object.get(key) or _Known(function, inner)
        if known.is_of(function, inner) and known.signatures:
            return self._compared(known, signature, "again")
        if len(self._by_object) > _MOST_KNOWN:
            for gone in [at for at, one in self._by_object.items() if one.is_gone()]:
                del self._by_object[gone]
        known = self._by_object[key] = _Known(function, inner)
        code = code_of(inner or function)
        if code is None:
            known.add(signature)
            return {"kind": "first"}
        others = self._by_code.setdefault(code, [])
        self._n_objects[code] = n_objects = self._n_objects.get(code, 0) + 1
        earlier = [one for other in others for one in other.signatures]
        differing = causes.nearest(signature, earlier)
        known.add(signature)
        others.append(known)
        del others[:-_MOST_OBJECTS]
        if differing is None:
            return {"kind": "first"}
        # What a package made of the arguments has the function in it, which is another one.
        differing = [one for one in differing if one["argument"] not in signature.behind]
        return {
            "kind": "new_function",
            "n_objects": n_objects,
            "n_kept": sum(not one.is_gone() for one in others),
            "differences": differing,
            **known.taken.since(others[-2].taken),
        }

    @staticmethod
    def _compared(known: _Known, signature: "Signature", kind: str) -> "Cause":
        differing = causes.nearest(signature, known.signatures)
        known.add(signature)
        if differing is None:
            return {"kind": kind if kind == "operation" else "first", "differences": []}
        return {"kind": kind, "differences": differing}


def is_operation(function: "Any") -> bool:
    """Say whether a function is that of a single operation outside of ``jit``."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_name == _OPERATION


def written(function: "Any") -> "Any":
    """Return the function that somebody wrote; ``None`` for an object that is called like one."""
    inner = _innermost(function)
    return inner if hasattr(inner, "__code__") else None


def code_of(function: "Any") -> "CodeType | None":
    """Return the code that somebody wrote, inside of partials, methods and wrappers."""
    function = _innermost(function)
    code = getattr(function, "__code__", None)
    if code is None and not isinstance(function, type):
        kinds = type(function).__mro__
        called = next((vars(one)["__call__"] for one in kinds if "__call__" in vars(one)), None)
        called = getattr(called, "method", called)  # a method of Equinox
        code = getattr(getattr(called, "__wrapped__", called), "__code__", None)
    return code


def _innermost(function: "Any") -> "Any":
    for _ in range(32):
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            break
    return function


def described(function: "Any", name: str) -> "dict[str, Any]":
    """Return a function as it is written: its name, and where its code is."""
    code = code_of(function)
    if code is None:
        return {"name": name}
    if is_operation(function):
        return {**described_code(code, _kind(function)), "name": name, "operation": True}
    return described_code(code, _kind(function))


def described_code(code: "CodeType", kind: str) -> "dict[str, Any]":
    """Return a function of some kind as it is written, by its code."""
    return {
        "name": code.co_qualname.replace("<locals>.", ""),
        "path": sites.path_of(code.co_filename),
        "line": code.co_firstlineno,
        "operation": False,
        "kind": kind,
        "whose": sites.WHOSE[sites.kind(code.co_filename)],
    }


def _kind(function: "Any") -> str:
    """Return what sort of callable was given to ``jit``."""
    if isinstance(function, functools.partial):
        return "partial"
    if inspect.ismethod(function):
        return "method"
    code = getattr(function, "__code__", None)
    if code is not None and code.co_name == "<lambda>":
        return "lambda"
    return "transformed" if hasattr(function, "__wrapped__") else "function"
