"""The arguments of a call: made from a seed or by a factory, handed to their framework."""

import sys

from coldwarm.functions import target, unfinished, values
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    import numpy as np


_NUMPY = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "bool": "bool",
    "c64": "complex64",
    "c128": "complex128",
}
DRAWN = {"normal", "uniform"}
"""Ways to fill an array that draw numbers."""
_WHOLE_BELOW = 100
_LOADED = {"numpy", "jax", "torch"}
_DEEPEST = 10


class Call:
    """Positional arguments, and keyword arguments by name."""

    def __init__(self, positional: "tuple[Any, ...]", named: "dict[str, Any]") -> None:
        """Keep both."""
        self.positional = positional
        self.named = named

    @property
    def flat(self) -> "tuple[Any, ...]":
        """Every argument in order, the named ones last."""
        return (*self.positional, *self.named.values())

    @property
    def keywords(self) -> "tuple[str, ...]":
        """The names of the last arguments in ``flat``."""
        return tuple(self.named)

    @property
    def gone(self) -> bool:
        """Whether an argument was given away: its memory is another's now."""
        found = values.leaves(list(self.flat))
        return any(values.is_jax(leaf) and leaf.is_deleted() for leaf in found)

    def copied(self) -> "Call":
        """Return the same call with arrays of its own."""
        named = {name: values.duplicate(value) for name, value in self.named.items()}
        return Call(tuple(values.duplicate(value) for value in self.positional), named)


def order(call: Call, by_name: "Mapping[str, Any]") -> "list[int]":
    """Return where the inputs are among a call's arguments, in the order they were given.

    Functions may take them in orders of their own; the inputs are the same all the same.
    """
    left = list(enumerate(call.flat))
    found = []
    for value in by_name.values():
        place = next(place for place, (_, other) in enumerate(left) if other is value)
        found.append(left.pop(place)[0])
    return found


def in_order(arguments: "Sequence[Any]", places: "Sequence[int] | None") -> "list[Any]":
    """Return arguments in the order that ``order`` found; ``None``: in their own."""
    return list(arguments) if places is None else [arguments[place] for place in places]


def made(
    inputs: "Sequence[Mapping[str, Any]]", rng: "np.random.Generator", which: int, framework: str
) -> "dict[str, Any]":
    """Return the inputs by name: the first shape of each, or for a new-shape call another.

    ``which`` counts the shapes; an input with fewer of them keeps its last.
    """
    found = {}
    for one in inputs:
        if one["kind"] == "value":
            found[one["name"]] = one["value"]
            continue
        shapes = one["shapes"]
        shape = tuple(shapes[min(which, len(shapes) - 1)])
        array = _array(one, shape, rng)
        found[one["name"]] = place(array, framework, one["name"])
    return found


def _array(
    one: "Mapping[str, Any]", shape: "tuple[int, ...]", rng: "np.random.Generator"
) -> "np.ndarray[Any, Any]":
    import numpy as np

    dtype, fill = np.dtype(_NUMPY[one["dtype"]]), one["fill"]
    if fill in {"zeros", "ones"}:
        return np.full(shape, 0 if fill == "zeros" else 1, dtype)
    if fill == "range":
        return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    if dtype.kind in "iu":
        return rng.integers(0, _WHOLE_BELOW, shape).astype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5  # noqa: PLR2004 - a fair coin
    draw = rng.random if fill == "uniform" else rng.standard_normal
    array = np.asarray(draw(shape))
    if dtype.kind == "c":
        array = array + 1j * np.asarray(draw(shape))
    return array.astype(dtype)


def framework_of(function: "Any", module: "Any") -> str:
    """Return whose arrays a function takes: what it, or else its module, has imported.

    A compiled function tells by its class. Of any other, the names that its code uses
    decide, and those of the module's functions that it calls; where they tell nothing, the
    whole module does.

    Raises:
        TargetError: the module has imported both JAX and PyTorch, and nothing tells which.
    """
    seen = function
    for _ in range(_DEEPEST):
        kind = _framework_of_class(seen)
        if kind is not None:
            return kind
        inner = getattr(seen, "__wrapped__", None) or getattr(seen, "func", None)
        if inner is None:
            break
        seen = inner
    scope = getattr(seen, "__globals__", None) or vars(module)
    code = getattr(seen, "__code__", None)
    used = set() if code is None else _used(code, scope, 0)
    roots = used & _LOADED or {_root(value) for value in list(scope.values())} & _LOADED
    found = [name for name in ("torch", "jax") if name in roots and name in sys.modules]
    if len(found) > 1:
        name = getattr(function, "__name__", "the function")
        text = f"{name} could be of JAX or of PyTorch: say whose arrays it takes: --inputs-as"
        raise target.TargetError(text)
    return found[0] if found else "numpy"


def _framework_of_class(function: "Any") -> "str | None":
    """Return whose compiler made a function, by its class; ``None``: no compiler's."""
    kinds = {kind.__module__.split(".")[0] for kind in type(function).__mro__}
    if kinds & {"jax", "jaxlib"}:
        return "jax"
    # What torch.compile returns is a plain function that has marks of its own.
    marks = getattr(function, "__dict__", ())
    if "torch" in kinds or any(name.startswith("_torchdynamo") for name in marks):
        return "torch"
    return "numpy" if "numba" in kinds else None


def _used(code: "Any", scope: "Mapping[str, Any]", depth: int) -> "set[str]":
    """Return the top-level packages of the names that code uses, with what it calls."""
    found = set()
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, type(code)):  # a function inside it
            found |= _used(constant, scope, depth)
    for name in names:
        value = scope.get(name)
        # Of what is no global, only the name of an import inside it is of use.
        found.add(name.split(".")[0] if value is None else _root(value))
        found.add(_framework_of_class(value) or "")
        inner = getattr(value, "__code__", None)
        if inner is not None and depth < _DEEPEST and inner is not code:
            found |= _used(inner, getattr(value, "__globals__", {}), depth + 1)
    return found


def _root(value: "Any") -> str:
    name = getattr(value, "__name__", "") if type(value) is type(sys) else ""
    module = name or str(getattr(value, "__module__", None) or "")
    return module.split(".")[0]


def place(array: "np.ndarray[Any, Any]", framework: str, name: str) -> "Any":
    """Hand an array to a framework, finished.

    Raises:
        TargetError: the framework would keep another type than the one asked for.
    """
    if framework not in sys.modules:
        text = f"{name} is wanted as an array of {framework}, which the function's module does not"
        text += " import"
        raise target.TargetError(text)
    if framework == "torch":
        return sys.modules["torch"].tensor(array)
    if framework == "jax":
        placed = sys.modules["jax"].device_put(array)
        if placed.dtype != array.dtype:
            text = (
                f"{name} was asked for as {array.dtype}, which JAX would keep as {placed.dtype}:"
                " give --env JAX_ENABLE_X64=1, or ask for 32 bits"
            )
            raise target.TargetError(text)
        unfinished.wait(placed)
        return placed
    return array


def called(by_name: "Mapping[str, Any]", positional: "Sequence[str]") -> Call:
    """Return the inputs as a call: those of ``positional`` by position, the others by name."""
    named = {name: value for name, value in by_name.items() if name not in positional}
    return Call(tuple(by_name[name] for name in positional), named)


def by_position(function: "Any", by_name: "Mapping[str, Any]") -> "list[str]":
    """Return which inputs go by position: those that the function's signature has there.

    Inputs go by position in the order given where the signature names none of them, or
    where there is none.

    Raises:
        TargetError: the function takes no such input, or wants others besides.
    """
    signature = target.CallSignatureReader(function)
    names, only = signature.positions, signature.keyword_only
    # A gap in the positions would shift what follows, so from there on names are used.
    positional = []
    for name in names:
        if name not in by_name:
            break
        positional.append(name)
    rest = [name for name in by_name if name not in positional]
    if not positional and not any(name in names or name in only for name in rest):
        _suit(function, by_name, len(by_name))
        return list(by_name)
    unknown = [name for name in rest if name not in names and name not in only]
    if unknown and len(positional) == len(names) and signature.takes_more:
        positional += unknown
        rest = [name for name in rest if name not in unknown]
    _suit(function, by_name, len(positional), rest)
    return positional


def _suit(
    function: "Any", by_name: "Mapping[str, Any]", positional: int, named: "Sequence[str]" = ()
) -> None:
    """Refuse a call that the signature does not allow, in words about inputs."""
    signature = target.CallSignatureReader(function)
    if signature.bind is None:
        return
    try:
        signature.bind(*[None] * positional, **dict.fromkeys(named))
    except TypeError as error:
        takes = [*signature.positions, *sorted(signature.keyword_only)]
        said = f"{getattr(function, '__name__', 'it')} takes {', '.join(takes) or 'no arguments'}"
        unknown = [name for name in by_name if name not in takes]
        missing = [name for name in signature.wanted if name not in by_name]
        what = str(error)
        if unknown:
            what = f"there is no input {', '.join(unknown)}"
        elif missing:
            what = f"give {', '.join(missing)} as --input, too"
        text = f"{said}; {what}"
        raise target.TargetError(text) from None


def values_of(inputs: "Sequence[Mapping[str, Any]]") -> "dict[str, Any] | None":
    """Return inputs that hold no array, by name; ``None``: one is an array."""
    if any(one["kind"] == "array" for one in inputs):
        return None
    return {one["name"]: one["value"] for one in inputs}


_NEW_SHAPES = 8
"""At most so many further inputs of a factory's generator are called."""


def from_factory(
    factory: "Callable[[], Any]",
) -> "tuple[Callable[..., Any], Call, Iterator[tuple[Any, ...]]]":
    """Return a factory's function, its call, and the arguments of further calls.

    Of a generator only the first arguments are made here: a first result needs no others.

    Raises:
        TargetError: it returned something else.
    """
    made = factory()
    if callable(made):
        return made, Call((), {}), iter(())
    expected = "a factory returns (function, arguments), with a tuple of arguments"
    if not isinstance(made, tuple | list) or not 0 < len(made) <= 3 or not callable(made[0]):  # noqa: PLR2004 - function, arguments, keywords
        text = f"{expected}; this one returned a {type(made).__name__}"
        raise target.TargetError(text)
    positional: Any = made[1] if len(made) > 1 else ()
    named = made[2] if len(made) > 2 else {}  # noqa: PLR2004 - as above
    if not isinstance(named, dict):
        text = f"{expected} and a dict of named ones; this one's are a {_kind(named)}"
        raise target.TargetError(text)
    further: Iterator[tuple[Any, ...]] = iter(())
    if hasattr(positional, "__next__"):
        taken = _taken(positional)
        positional = next(taken, None)
        if positional is None:
            text = "the factory's generator of arguments gave none"
            raise target.TargetError(text)
        further = ((*more, *named.values()) for more in taken)
    if not isinstance(positional, tuple | list):
        text = f"{expected}; its arguments are a {type(positional).__name__}"
        raise target.TargetError(text)
    return made[0], Call(tuple(positional), named), further


def _taken(generator: "Any") -> "Iterator[tuple[Any, ...]]":
    for _, one in zip(range(1 + _NEW_SHAPES), generator, strict=False):
        # An array would come apart into its rows.
        if not isinstance(one, tuple | list):
            text = f"the factory's generator gives tuples of arguments, and gave a {_kind(one)}"
            raise target.TargetError(text)
        yield tuple(one)


def _kind(value: "Any") -> str:
    return type(value).__name__
