"""Signature of a call: its arguments by name, as texts. Nothing of an argument is kept."""

import os
import sys
import time

from coldwarm.doctor.record.journal import is_secret
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from coldwarm.doctor.record.sites import Around

    Leaf = dict[str, Any]


_MOST_LEAVES = 400
"""Most leaves of one call that are described; those after them are not compared."""
VALUES = "COLDWARM_DOCTOR_VALUES"
"""The variable that asks for values of static arguments, and of what functions take."""
_LARGE = 10**9
"""A number from here on may be one of an account."""
_NUMBERS = ("int", "uint", "float", "complex", "bool")
_NAMED = ("<PjitFunction", "<numpy.ufunc", "<ufunc", "<built-in ", "<jitted ", "CPUDispatcher(")
"""Beginnings of the texts of callables that show names and where they lie alone."""
_HOLDING = ("<bound method ", "functools.partial(")
"""And those that show what they hold."""
_LONGEST = 120
_LONGEST_TREE = 4000
_MOST_DEPTH = 8
_LONG_HASH_S = 2e-5
_last: "list[dict[str, Any]]" = []
"""The settings as they were when they were asked for last: most calls share them."""
_AS_ARRAY = {"float": "float32", "int": "int32", "complex": "complex64"}
"""Type of a number of Python's in a program, unless longer types are turned on."""
_AS_PYTHON = {array: number for number, array in _AS_ARRAY.items()}
_SHORT = {"float": "f", "uint": "u", "int": "i", "complex": "c"}


class CallSignature:
    """Signature of one compiled call."""

    __slots__ = ("behind", "context", "leaves", "n_leaves", "static", "transforms", "trees")

    def __init__(self) -> None:
        """Start with nothing known."""
        self.n_leaves = 0
        self.leaves: dict[str, Leaf] = {}
        """By the argument's name and the place in it: what it is."""
        self.static: dict[str, str] = {}
        """Static arguments: their values as texts."""
        self.behind: tuple[str, ...] = ()
        """Static arguments that a package made of the user's."""
        self.trees: dict[str, str] = {}
        """By argument, how it is nested."""
        self.context: dict[str, Any] = {}
        """Settings that programs depend on."""
        self.transforms: tuple[str, ...] = ()
        """Transformations that the call is part of, as JAX names their tracers."""

    def told(self) -> "dict[str, Any]":
        """Return it as it is written."""
        users = {name: value for name, value in self.static.items() if name not in self.behind}
        return {
            "arguments": {name: shown(leaf) for name, leaf in self.leaves.items()},
            "static": users or self.static,
            "n_leaves": self.n_leaves,
            "from_host": {
                name: leaf["n_bytes"] for name, leaf in self.leaves.items() if "n_bytes" in leaf
            },
        }


def of_call(
    function: "Any",
    info: "Any",
    args: "tuple[Any, ...]",
    kwargs: "Mapping[str, Any]",
    wrapped: "Around | None" = None,
) -> CallSignature:
    """Return what a call of a jitted function is compiled for.

    ``wrapped`` is the user's call, where a package has taken its arguments apart: they are then
    called as the user calls them.
    """
    found = CallSignature()
    static, dynamic = divided(function, info, args, kwargs)
    found.static = {name: fixed(name, value) for name, value in static.items()}
    given = _given(wrapped) if wrapped else {}
    passed = _describe(dynamic, found, {id(leaf): name for name, leaf in given.items()})
    if found.static and given:
        found.behind = tuple(found.static)
        known = {name: fixed(name, leaf) for name, leaf in given.items() if id(leaf) not in passed}
        found.static = {**known, **found.static}
    found.context = _context()
    return found


def divided(
    function: "Any", info: "Any", args: "tuple[Any, ...]", kwargs: "Mapping[str, Any]"
) -> "tuple[dict[str, Any], dict[str, Any]]":
    """Return the arguments of a call that are static, and the others, by name."""
    n_args = len(args)
    named = [*zip(_argument_names(function, n_args), args, strict=True)]
    places = getattr(info, "static_argnums", ()) or ()
    fixed_places = {place if place >= 0 else place + n_args for place in places}
    fixed_names = set(getattr(info, "static_argnames", ()) or ())
    static: dict[str, Any] = {}
    dynamic: dict[str, Any] = {}
    for place, (name, value) in [*enumerate(named), *((-1, each) for each in kwargs.items())]:
        is_static = place in fixed_places or name in fixed_names
        (static if is_static else dynamic)[name] = value
    return static, dynamic


def hashing_s(static: "Mapping[str, Any]") -> "dict[str, float]":
    """Return the seconds that it takes to hash static arguments, by name, where it is long.

    JAX hashes them in each call.
    """
    found: dict[str, float] = {}
    for name, value in static.items():
        if isinstance(value, (str, bytes, int, float)):
            continue
        begin_s = time.perf_counter()
        try:
            hash(value)
        except Exception:  # noqa: S112 - the program's own code, which JAX asks as well
            continue
        seconds = time.perf_counter() - begin_s
        if seconds >= _LONG_HASH_S:
            found[name] = seconds
    return found


def _given(wrapped: "Around") -> "dict[str, Any]":
    """Return the parts of a user's arguments, by name."""
    names = _argument_names(wrapped.function, len(wrapped.args))
    named = {**dict(zip(names, wrapped.args, strict=True)), **wrapped.kwargs}
    tree_util = sys.modules["jax.tree_util"]
    found: dict[str, Any] = {}
    try:
        for name, value in named.items():
            for path, leaf in tree_util.tree_flatten_with_path(value)[0][:_MOST_LEAVES]:
                found[name + tree_util.keystr(path)] = leaf
    except Exception:
        return {}  # a class of the user's that cannot be taken apart here
    return found


def of_values(values: "Mapping[str, Any]") -> CallSignature:
    """Return what a function is compiled for whose numbers and texts are part of the program."""
    found = CallSignature()
    for name, value in values.items():
        if isinstance(value, (bool, int, float, str, bytes, type(None))):
            found.static[name] = fixed(name, value)
        elif hasattr(value, "shape"):
            found.leaves[name] = {**_leaf(value), "weak": False}
        else:
            found.leaves[name] = {
                "dtype": type(value).__name__,
                "shape": [],
                "weak": False,
                "place": "python",
            }
    found.trees = dict.fromkeys(values, "")
    return found


def _argument_names(function: "Any", n_args: int) -> "list[str]":
    """Return the names of positional arguments, as the function's author wrote them."""
    import inspect

    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names: list[str] = []
    for one in parameters:
        if one.kind == one.VAR_POSITIONAL:
            names += [f"{one.name}[{at}]" for at in range(n_args - len(names))]
        elif one.kind in {one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD}:
            names.append(one.name)
    return [names[at] if at < len(names) else f"argument {at + 1}" for at in range(n_args)]


def _describe(
    dynamic: "dict[str, Any]", found: CallSignature, given: "Mapping[int, str]"
) -> "set[int]":
    """Add what arguments are; return the identities of their parts.

    ``given`` has the names that the user has for arrays, by their identity.
    """
    passed: set[int] = set()
    tree_util = sys.modules["jax.tree_util"]
    kinds: set[str] = set()
    depth = 0
    for name, value in dynamic.items():
        leaves, tree = tree_util.tree_flatten_with_path(value)
        found.trees[name] = _nested(str(tree))
        for path, leaf in leaves:
            described = _leaf(leaf)
            if described.get("tracer"):
                kinds.add(described.pop("tracer"))
                depth = max(depth, _depth(leaf))
            found.n_leaves += 1
            passed.add(id(leaf))
            if len(found.leaves) < _MOST_LEAVES:
                users = given.get(id(leaf)) if hasattr(leaf, "shape") else None
                place = name + tree_util.keystr(path)
                found.leaves[users if users and users not in found.leaves else place] = described
    found.transforms = tuple(sorted(kinds)) * max(1, depth)
    return passed


def _nested(tree: str) -> str:
    """Return a structure as a text that is not too long to keep."""
    whole = tree.removeprefix("PyTreeDef(").removesuffix(")")
    if len(whole) <= _LONGEST_TREE:
        return whole
    return f"{whole[:_LONGEST_TREE]}…{hash(whole) & 0xFFFFFFFF:08x}"


def _depth(leaf: "Any") -> int:
    """Return how many transformations lie around a value: one inside of another."""
    depth = 0
    while type(leaf).__name__.endswith("Tracer") and depth < _MOST_DEPTH:
        depth += 1
        leaf = getattr(leaf, "primal", getattr(leaf, "val", None))
    return depth


def _leaf(leaf: "Any") -> "Leaf":
    """Return what a compiled program depends on of one array, or of one number."""
    aval = getattr(leaf, "aval", None)
    shape = getattr(leaf, "shape", None)
    if shape is None:
        kind = type(leaf).__name__
        return {"dtype": _AS_ARRAY.get(kind, kind), "shape": [], "weak": True, "place": "python"}
    described: Leaf = {
        "dtype": str(getattr(leaf, "dtype", "?")).removeprefix("torch."),
        "shape": [int(n) if isinstance(n, int) else str(n) for n in shape],
        "weak": bool(getattr(aval, "weak_type", False)),
        "place": "numpy" if type(leaf).__module__.startswith("numpy") else "device",
    }
    if described["place"] == "numpy":
        described["n_bytes"] = int(leaf.nbytes)
    if type(leaf).__name__.endswith("Tracer"):
        described["tracer"] = type(leaf).__name__
    elif hasattr(leaf, "_committed"):
        described["committed"] = bool(leaf._committed)
        described["sharding"] = text(getattr(leaf, "sharding", ""))
    return described


def shown(leaf: "Leaf") -> str:
    """Return a leaf as a person reads it, such as ``f32[8,3]``."""
    dtype = leaf["dtype"]
    if leaf["place"] == "python":
        return f"Python {_AS_PYTHON.get(dtype, dtype)}"
    for long, short in _SHORT.items():
        if dtype.startswith(long) and dtype != long:
            dtype = short + dtype[len(long) :]
            break
    sizes = ",".join(map(str, leaf["shape"]))
    return f"{dtype}[{sizes}]"


def _context() -> "dict[str, Any]":
    """Return JAX's settings, among which are those that programs depend on, by name."""
    holders = getattr(sys.modules["jax"].config, "_value_holders", {})
    now = {name: holder.value for name, holder in holders.items() if hasattr(holder, "value")}
    if not _last or _last[0] != now:
        _last[:] = [now]
    return _last[0]


def fixed(name: str, value: "Any") -> str:
    """Return what is told of a value that a program is compiled for: enough to tell it from others.

    A number is told. Of anything else it may be a secret what it is: its type, and which one of its
    type it was in this process. Where ``VALUES`` asks for it, it is told unless its name says no.
    """
    written = text(value)
    if not is_secret(name) and (os.environ.get(VALUES) or _is_open(value, written)):
        return written
    which = f"#{hash(written) & 0xFFFFFF:06x}"
    if written.startswith(_HOLDING):
        return f"{next(one for one in _HOLDING if written.startswith(one))}{which}"
    member, colon, _ = written.partition(": ")
    if colon and member[:1] == "<" and member[1:].replace(".", "").isidentifier():
        return f"{member}: {which}>"  # of an enumeration
    return f"{type(value).__name__} {which}"


def _is_open(value: "Any", written: str) -> bool:
    """Say whether a value is a number, or something that is told by what its author called it."""
    kind = type(value)
    if kind is tuple or kind is list:
        return len(value) <= _MOST_DEPTH and all(_is_open(one, "") for one in value)
    if kind is int or (kind.__module__ == "numpy" and kind.__name__.startswith(_NUMBERS)):
        return bool(abs(value) < _LARGE)
    named = isinstance(value, (type, type(_is_open))) or kind.__name__.endswith("DType")
    shows: Any = kind.__repr__
    plain = shows is object.__repr__ or written.startswith(_NAMED)
    return kind in {bool, float, complex, type(None)} or named or plain


def text(value: "Any") -> str:
    """Return a value as a short text."""
    try:
        written = repr(value)
    except Exception as error:
        written = f"<{type(value).__name__}: {type(error).__name__} in its __repr__>"
    if len(written) <= _LONGEST:
        return written
    # What was cut off still tells two values apart.
    return f"{written[: _LONGEST - 10]}…{hash(written) & 0xFFFFFFFF:08x}"
