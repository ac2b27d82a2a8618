"""The functions that were compiled in a process, what each was compiled for, and why again.

Of what a function takes from around it numbers, texts and arrays are compared; nothing of it is
kept. Two calls differ in what their signatures say.
"""

import dis
import functools
import inspect
import weakref
from itertools import islice
from types import FunctionType

from coldwarm.doctor.record import sites
from coldwarm.doctor.record.signatures import CallSignature, fixed, shown, text
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import CodeType
    from typing import Any

    from coldwarm.doctor.record.signatures import Leaf

    Difference = dict[str, str]
    """``kind``, ``argument``, ``before`` and ``now``; ``fixed`` where a package has made an
        argument static because it is no array."""
    Cause = dict[str, Any]


_LARGE_BYTES = 2**20
"""Least size of an array to be reported."""
_MOST_WRAPPERS = 8
_LONGEST = 10_000
"""Characters of a text that is compared."""
_LONG = 256
"""Fewest elements of a tuple to be told of."""
_MOST_PARTS = 16
"""Most parts of a list or a dictionary that are looked at."""
_PLAIN = (bool, int, float, str, bytes, type(None))
_FROM_MODULE = {"LOAD_GLOBAL", "LOAD_NAME"}


class ClosureVariables:
    """Closure variables of one function object."""

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

    def since(self, before: "ClosureVariables") -> "dict[str, Any]":
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
    """Say whether it is a number, a few of them, or a text that is soon written."""
    if type(value) in {tuple, list}:
        return len(value) <= _MOST_PARTS and all(type(one) in {int, float} for one in value)
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


def plain_around(function: "Any") -> "dict[str, Any]":
    """Return the numbers and texts that a function takes from around it, by name."""
    return {
        name: value
        for name, value in _around(function).items()
        if isinstance(value, (bool, int, float, str)) and _is_plain(value)
    }


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
    found = _looked_up(function)
    return [name for name, value in found.items() if _n_bytes(value) >= _LARGE_BYTES]


def tuples(function: "Any") -> "dict[str, int]":
    """Return the long tuples that a function takes from around it: their elements, by name.

    Those too that functions under Numba take which it calls: they are compiled with it.
    """
    found: dict[str, int] = {}
    left: list[Any] = [function]
    seen: set[int] = set()
    while left and len(seen) < _MOST_OBJECTS:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for name, value in _looked_up(one).items():
            if type(value) is tuple and len(value) >= _LONG:
                found[name] = len(value)
            elif not isinstance(value, FunctionType) and _written(value) is not None:
                left.append(_written(value))
    return found


def _looked_up(function: "Any") -> "dict[str, Any]":
    """Return what code looks up in its module and in the functions around it, by name."""
    *_, function = _unwrapped(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return {}
    around = getattr(function, "__globals__", {})
    return {name: around.get(name) for name in _from_module(code)} | _closure(function)


def _n_bytes(value: "Any") -> int:
    n_bytes = getattr(value, "nbytes", 0)
    return n_bytes if isinstance(n_bytes, int) else 0


_OF_LEAVES = (
    ("dtype", "dtype"),
    ("shape", "shape"),
    ("weak", "weak_type"),
    ("committed", "commitment"),
    ("sharding", "sharding"),
)
"""Compared parts of an argument, and the kind of cause that it is."""
_PLACES = ("committed", "sharding")
"""Attributes of arrays on a device; a NumPy array has none."""
_SHOWN = 60
"""Characters of a structure."""
_IRRELEVANT = ("jax_log_compiles", "jax_explain_cache_misses", "jax_compiler_detailed_logging")


def nearest(now: CallSignature, earlier: "Iterable[CallSignature]") -> "list[Difference] | None":
    """Return how a call differs from the earlier one that it is most like.

    ``None``: there was none; an empty list: nothing that is known differs.
    """
    found = [_differences(before, now) for before in earlier]
    return min(reversed(found), key=_distance) if found else None


def _distance(found: "list[Difference]") -> "tuple[bool, int]":
    """Return how far apart two calls are: of other trees, the leaves are not compared."""
    return any(one["kind"] == "tree" for one in found), len(found)


def apportioned(parts: "Mapping[str, Any]", seconds: float, rest: str) -> "dict[str, float]":
    """Return the exclusive seconds of each stage of a compilation that took so many in all.

    ``rest`` is the stage of which a framework has not told.
    """
    own_s = {
        name.removesuffix("_s"): parts[name]
        for name in parts
        if name.endswith("_s") and parts[name]
    }
    own_s[rest] = own_s.get(rest, 0.0) + max(0.0, seconds - sum(own_s.values()))
    return own_s


def _differences(before: CallSignature, now: CallSignature) -> "list[Difference]":
    """Return what differs between two calls."""
    static = list(_static(before.static, now.static))
    # What a package made of the user's own arguments says less than they do.
    users = [one for one in static if one["argument"] not in now.behind] if now.behind else []
    return [
        *([{**one, "fixed": "no array"} for one in users] or static),
        *_leaves(before, now),
        *_transforms(before, now),
        *_context(before.context, now.context),
    ]


def _static(before: "Mapping[str, str]", now: "Mapping[str, str]") -> "Iterator[Difference]":
    for name in [*before, *(set(now) - set(before))]:
        if before.get(name) != now.get(name):
            yield _difference("static", name, before.get(name, "absent"), now.get(name, "absent"))


def _leaves(before: CallSignature, now: CallSignature) -> "Iterator[Difference]":
    if before.trees != now.trees:
        for name in dict.fromkeys([*now.trees, *before.trees]):
            then, today = before.trees.get(name), now.trees.get(name)
            if then != today:
                yield _difference("tree", name, *_apart(then, today))
        return
    for name, leaf in now.leaves.items():
        if name in before.leaves:
            yield from _leaf(name, before.leaves[name], leaf)


def _apart(before: "str | None", now: "str | None") -> "tuple[str, str]":
    """Return two structures from a little before where they differ."""
    if before is None or now is None:
        return tuple("absent" if one is None else one[:_SHOWN] for one in (before, now))  # type: ignore[return-value] # of two
    pairs = enumerate(zip(before, now, strict=False))
    differ = next((at for at, (a, b) in pairs if a != b), min(len(before), len(now)))
    begin = 0 if max(len(before), len(now)) <= _SHOWN else max(0, differ - _SHOWN // 3)
    return _part(before, begin), _part(now, begin)


def _part(whole: str, begin: int) -> str:
    part = whole[begin : begin + _SHOWN]
    return ("…" if begin else "") + part + ("…" if begin + _SHOWN < len(whole) else "")


def _leaf(name: str, before: "Leaf", now: "Leaf") -> "Iterator[Difference]":
    for key, kind in _OF_LEAVES:
        if key in _PLACES and (key not in before or key not in now):
            continue
        if before.get(key) == now.get(key):
            continue
        if key in {"dtype", "shape"}:
            yield _difference(kind, name, shown(before), shown(now))
        elif key == "weak":
            yield _difference(kind, name, _typed(before), _typed(now))
        else:
            yield _difference(kind, name, str(before[key]), str(now[key]))


def _typed(leaf: "Leaf") -> str:
    return f"{shown(leaf)} ({'weakly' if leaf['weak'] else 'strongly'} typed)"


def _transforms(before: CallSignature, now: CallSignature) -> "Iterator[Difference]":
    if before.transforms != now.transforms:
        words = [", ".join(one.transforms) or "none" for one in (before, now)]
        yield _difference("transform", "", *words)


def _context(before: "Mapping[str, Any]", now: "Mapping[str, Any]") -> "Iterator[Difference]":
    for name, value in now.items():
        if before.get(name, value) != value and name not in _IRRELEVANT:
            yield _difference("context", name, text(before[name]), text(value))


def _difference(kind: str, argument: str, before: str, now: str) -> "Difference":
    return {"kind": kind, "argument": argument, "before": before, "now": now}


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
        self.signatures: list[CallSignature] = []
        self.taken = ClosureVariables(inner or function)
        self._refs = [_ref(function), _ref(inner)]

    def is_of(self, function: "Any", inner: "Any") -> bool:
        """Say whether these are the same objects."""
        return self._refs[0]() is function and self._refs[1]() is inner

    def is_gone(self) -> bool:
        """Say whether the function object is no more."""
        return self._refs[0]() is None

    def add(self, signature: "CallSignature") -> None:
        self.signatures.append(signature)
        del self.signatures[:-_KEPT]


def _ref(kept: "Any") -> "Any":
    """Return what gives an object as long as it is there."""
    try:
        return weakref.ref(kept)
    except TypeError:
        return lambda: kept  # it cannot go while it is kept here


class Functions:
    """Functions compiled so far, to compare with."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._by_object: dict[tuple[int, int], _Known] = {}
        self._by_code: dict[CodeType, list[_Known]] = {}
        self._operations: dict[str, _Known] = {}
        self._n_objects: dict[CodeType, int] = {}

    def cause(
        self, function: "Any", name: str, signature: "CallSignature", inner: "Any" = None
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
        differing = nearest(signature, earlier)
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
    def _compared(known: _Known, signature: "CallSignature", kind: str) -> "Cause":
        differing = nearest(signature, known.signatures)
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


parallel_ufuncs: "dict[str, dict[str, Any]]" = {}
"""By its name, what ``vectorize(…, target="parallel")`` has made a function of NumPy's of."""


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
