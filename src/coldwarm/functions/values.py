"""Arguments and results of functions: nested containers of arrays of any framework.

A framework is asked only if it is loaded: a value of a framework that nobody imported
cannot be there.
"""

import sys

from coldwarm.frameworks.base import module_of
from coldwarm.functions import kinds
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    import numpy as np


class NotNumericError(TypeError):
    """A value that holds something besides numbers; the message says what to return."""


def leaves(value: "Any") -> "Iterator[Any]":
    """Yield what is inside nested containers, in one order for all frameworks.

    Dictionaries go by their sorted keys, as JAX has it; ``None`` holds nothing. Classes
    that JAX knows as trees are opened where JAX is loaded, dataclasses everywhere.
    """
    if value is None:
        return
    kind = type(value)  # a proxy that is asked for its class may compute
    if issubclass(kind, dict):
        for key in sorted(value, key=str):
            yield from leaves(value[key])
    elif issubclass(kind, tuple | list):
        for item in value:
            yield from leaves(item)
    elif is_array(value) or issubclass(kind, bool | int | float | complex | str | bytes):
        yield value
    else:
        held = _opened(value)
        if held is None:
            yield value
        else:
            yield from leaves(held)


def _opened(value: "Any") -> "list[Any] | None":
    """Return what a registered tree or a dataclass holds; ``None``: it is neither."""
    jax = sys.modules.get("jax")
    if jax is not None:
        held = jax.tree.leaves(value)
        if len(held) != 1 or held[0] is not value:
            return list(held)
    fields = _fields(value)
    return None if fields is None else [getattr(value, name) for name in fields]


def _fields(value: "Any") -> "list[str] | None":
    """Return the names of a dataclass's fields that are set; ``None``: it is none."""
    fields = getattr(type(value), "__dataclass_fields__", None)
    return None if fields is None else [name for name in fields if hasattr(value, name)]


def is_array(value: "Any") -> bool:
    """Say whether a value is an array of a framework that is loaded."""
    return is_jax(value) or is_torch(value) or _is(value, "numpy", "ndarray", "generic")


def is_jax(value: "Any") -> bool:
    """Say whether a value is an array of JAX."""
    return _is(value, "jax", "Array")


def is_torch(value: "Any") -> bool:
    """Say whether a value is a tensor of PyTorch."""
    return _is(value, "torch", "Tensor")


def _is(value: "Any", module: str, *names: str) -> bool:
    loaded = sys.modules.get(module)
    kinds = tuple(kind for name in names if (kind := getattr(loaded, name, None)) is not None)
    return issubclass(type(value), kinds)


def _to_host(leaf: "Any") -> "np.ndarray[Any, Any]":
    """Return a leaf as a NumPy array of numbers.

    Raises:
        IncomparableError: it is nothing numeric.
    """
    import numpy as np

    if is_torch(leaf):
        host = leaf.detach().to("cpu").resolve_conj().resolve_neg()
        dtype = str(host.dtype)
        return np.array((host.float() if dtype == "torch.bfloat16" else host).numpy())
    if is_jax(leaf):
        jax = sys.modules["jax"]
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
    try:
        array = np.asarray(leaf)
    except Exception as error:  # whatever somebody else's class raises when it is asked
        text = f"the output holds a {type(leaf).__name__}, which gives no numbers: {error}"
        raise NotNumericError(text) from error
    if array.dtype.name == "bfloat16":
        array = array.astype("float32")
    if array.dtype.kind not in "biufc":
        text = (
            f"the output holds a {type(leaf).__name__}, which cannot be compared: return arrays"
            " or numbers (in tuples, lists, dicts), or give --no-check"
        )
        raise NotNumericError(text)
    return np.array(array)


class OutputValues:
    """Contents of an output, for a comparison: numbers and texts, as arrays on the host.

    Objects are opened by their attributes, dictionaries by their sorted keys. ``None`` holds
    nothing.
    """

    def __init__(self, value: "Any") -> None:
        """Look into the value; into each object once."""
        self.arrays: list[np.ndarray[Any, Any]] = []
        self.dtypes: list[str] = []
        """For each array the type that it had in the output; ``text``: it is a text."""
        self.others: list[str] = []
        """Places of what can be compared by nothing, each with its class."""
        self._seen: dict[int, Any] = {}  # kept, so that nothing else gets its number
        self._add("output", value)

    def _add(self, place: str, value: "Any") -> None:
        kind = type(value)
        if value is None:
            return
        held = _converted(value, kind)
        if held is not None:
            self._add(place, held)
        elif kinds.package(kind) in _LOOKED_AT:
            self.others.append(f"{place} ({kind.__qualname__})")
        elif issubclass(kind, str):
            self._text(str(value))
        elif issubclass(kind, bytes | bytearray):
            self._bytes(value)
        elif issubclass(kind, dict):
            for key in sorted(value, key=str):
                self._add(f"{place}[{key!r}]", value[key])
        elif issubclass(kind, tuple | list):
            for number, one in enumerate(value):
                self._add(f"{place}[{number}]", one)
        else:
            self._leaf(place, value, kind)

    def _leaf(self, place: str, value: "Any", kind: type) -> None:
        held = None if is_array(value) else _named(value)
        if held is None:
            try:
                array = _to_host(value)
            except (TypeError, ValueError):
                self._no_number(place, value, kind)
            else:
                self._number(_dtype(value, array), array)
        elif id(value) not in self._seen:
            self._seen[id(value)] = value
            for name, one in held:
                self._add(place + name, one)

    def _no_number(self, place: str, value: "Any", kind: type) -> None:
        import numpy as np

        if isinstance(value, np.ndarray | np.generic):
            self._no_number_array(place, np.asarray(value))
            return
        text = _text_of(value, kind)
        if text is not None:
            self._text(text)
            return
        held = _attributes(value, kind)
        if not held:
            self.others.append(f"{place} ({kind.__qualname__})")
        elif id(value) not in self._seen:
            self._seen[id(value)] = value
            for name, one in held:
                self._add(f"{place}.{name}", one)

    def _no_number_array(self, place: str, array: "np.ndarray[Any, Any]") -> None:
        if array.dtype.kind == "U":
            self._number("text", array.copy())
        elif array.dtype.kind in "mM":
            self._number(str(array.dtype), array.astype("i8"))
        elif array.dtype.names:
            for name in array.dtype.names:
                self._add(f"{place}[{name!r}]", array[name])
        elif array.dtype.hasobject:
            self._add(place, array.ravel().tolist())
        else:
            self._bytes(array.tobytes())

    def _bytes(self, value: "bytes | bytearray") -> None:
        import numpy as np

        self._number("bytes", np.array(bytearray(value), "u1"))

    def _number(self, dtype: str, array: "np.ndarray[Any, Any]") -> None:
        self.dtypes.append(dtype)
        self.arrays.append(array)

    def _text(self, text: str) -> None:
        import numpy as np

        self._number("text", np.array(text.encode("utf-8", "backslashreplace").decode()))

    def digest(self) -> str:
        """Return the SHA-256 of all that is compared, with types and shapes."""
        import hashlib

        found = hashlib.sha256()
        for array in self.arrays:
            found.update(f"{array.dtype.str}{array.shape}".encode() + _content(array))
        return found.hexdigest()


def _dtype(leaf: "Any", array: "np.ndarray[Any, Any]") -> str:
    """Return the type of a leaf; the host has bfloat16 as float32."""
    dtype = str(getattr(leaf, "dtype", array.dtype)).removeprefix("torch.")
    return dtype if dtype == "bfloat16" else str(array.dtype)


def _named(value: "Any") -> "list[tuple[str, Any]] | None":
    """Return what a dataclass or a tree of JAX holds, by name; ``None``: it is neither."""
    fields = _fields(value)
    if fields is not None:
        return [(f".{name}", getattr(value, name)) for name in fields]
    held = _opened(value)
    return None if held is None else [(f"[{n}]", one) for n, one in enumerate(held)]


def _converted(value: "Any", kind: type) -> "Any":  # noqa: PLR0911 - a kind each
    """Return what an object of a known library holds, as arrays and lists; ``None``: no such."""
    root = kinds.package(kind)
    if root == "pandas" and hasattr(kind, "to_numpy"):
        if hasattr(kind, "columns"):
            return [value.index, *([name, one.to_numpy()] for name, one in value.items())]
        return [value.index, value.to_numpy()] if hasattr(kind, "index") else value.to_numpy()
    if root == "polars" and hasattr(kind, "to_list"):
        return value.to_list()
    if root == "polars" and hasattr(kind, "to_dict"):
        return {name: one.to_list() for name, one in value.to_dict().items()}
    if root == "awkward" and hasattr(kind, "to_list"):
        return value.to_list()
    if root == "sympy" and hasattr(kind, "free_symbols"):  # beside it, it keeps hashes of texts
        return str(value)
    if root == "PIL" and hasattr(kind, "tobytes"):
        return [value.mode, list(value.size), value.tobytes()]
    if is_torch(value) and (value.is_sparse or value.layout != sys.modules["torch"].strided):
        return value.detach().to_dense()
    return None


_LOOKED_AT = {"matplotlib"}
"""Packages whose values are for the eye: numbers that they count by differ from call to call."""


def _text_of(value: "Any", kind: type) -> "str | None":
    """Return the text that tells a value of Python's own from others; ``None``: there is none."""
    if issubclass(kind, int):  # too large for an array
        return str(int(value))
    if issubclass(kind, set | frozenset):
        simple = all(type(one) in _SIMPLE for one in value)
        return f"{{{', '.join(sorted(map(repr, value)))}}}" if simple else None
    enum = getattr(sys.modules.get("enum"), "Enum", None)
    if enum is not None and issubclass(kind, enum):
        return f"{kind.__qualname__}.{value.name}"
    if issubclass(kind, type):
        return f"{value.__module__}.{value.__qualname__}"
    shown = kinds.package(kind) in _SHOWN and kind.__repr__ is not object.__repr__
    return repr(value) if shown else None


_SIMPLE = {bool, int, float, complex, str, bytes, type(None)}
_SHOWN = {"_decimal", "datetime", "decimal", "fractions", "pandas", "pathlib", "re", "uuid"}
"""Modules whose values say all that they are."""


def _attributes(value: "Any", kind: type) -> "list[tuple[str, Any]]":
    """Return what an object keeps in attributes, sorted by name; nothing of Python's own."""
    shape = kinds.Shape(kind)
    if shape.is_skipped or shape.is_function or shape.is_of_python:
        return []
    found = dict(kinds.own_names(value) or {})
    found.update((member.__name__, one) for member, one in shape.set_slots(value))
    if not found and shape.is_table:
        return list(enumerate(shape.inner_objects(value)))  # type: ignore[arg-type] # places
    return sorted(found.items())


def on_host(value: "Any") -> "list[np.ndarray[Any, Any]]":
    """Return copies on the host of all that can be compared in an output."""
    return OutputValues(value).arrays


def _kept(leaf: "Any") -> "bytes | str":
    """Return what tells one leaf's content from another's, of whatever kind it is."""
    if issubclass(type(leaf), str | bytes):
        return f"{type(leaf)}{leaf!r}"
    try:
        array = _to_host(leaf)
    except (TypeError, ValueError):
        return str(type(leaf))
    return f"{array.dtype.str}{array.shape}".encode() + _content(array)


def _content(array: "np.ndarray[Any, Any]") -> bytes:
    """Return an array's bytes; of extended precision without the padding, which is anything."""
    if array.dtype.char not in "gG":
        return array.tobytes()
    short = array.astype("c16" if array.dtype.char == "G" else "f8")
    left: np.ndarray[Any, Any] = (array - short).astype(short.dtype)
    return short.tobytes() + left.tobytes()


def digest(value: "Any") -> str:
    """Return the SHA-256 of all numbers in a value, with their types and shapes."""
    import hashlib

    found = hashlib.sha256()
    for leaf in leaves(value):
        content = _kept(leaf)
        found.update(content if isinstance(content, bytes) else content.encode())
    return found.hexdigest()


def duplicate(value: "Any", change: "Callable[[Any], Any] | None" = None) -> "Any":
    """Return a copy with its own arrays, finished; what cannot be copied is shared.

    Copies have the memory layout of what they are copies of: a compiler may compile for another
    one once more. ``change`` gives another array, or another Python number, for each.
    """
    import copy

    if is_array(value) or (change is not None and type(value) in {float, complex}):
        same = _copied(value) if change is None else change(value)
        if is_jax(same):
            same.block_until_ready()
        return same
    # Containers may be of classes of their own, which want more than their items.
    if isinstance(value, dict):
        same = copy.copy(value)
        for key, item in value.items():
            same[key] = duplicate(item, change)
        return same
    if isinstance(value, list):
        same = copy.copy(value)
        same[:] = [duplicate(item, change) for item in value]
        return same
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [duplicate(item, change) for item in value])
    return _copied_object(value, change)


def _copied(array: "Any") -> "Any":
    if is_torch(array):
        return _copied_tensor(array)
    if is_jax(array):
        return module_of("jax").copied(array)
    if not _is(array, "numpy", "ndarray"):
        return array.copy()
    return placed_like(array, array)


def placed_like(array: "Any", content: "Any") -> "Any":
    """Return a new array of NumPy with some content, laid out in memory as another one is.

    Its strides are the same, also those of a column of a table, so is its distance from the next
    multiple of 64 bytes, from which compiled code may choose its instructions, and so is whether
    it may be written to.
    """
    import numpy as np

    if type(array) is not np.ndarray or array.dtype.hasobject or not array.size:
        return array.copy(order="K")  # in the order that its elements have
    if array.flags.owndata and array.flags.forc:
        same = np.empty_like(array)
    else:
        same = laid_out(array, array.strides, array.ctypes.data)
    same[...] = content
    same.flags.writeable = array.flags.writeable
    return same


def laid_out(
    like: "np.ndarray[Any, Any]", strides: "Sequence[int]", address: int
) -> "np.ndarray[Any, Any]":
    """Return an empty array like one, with steps in bytes, and as far from a line as an address."""
    import numpy as np

    steps = [(n - 1) * step for n, step in zip(like.shape, strides, strict=True)]
    low = sum(step for step in steps if step < 0)
    size = sum(step for step in steps if step > 0) - low + like.itemsize
    if size > max(_MOST_TIMES * like.nbytes, _LITTLE_BYTES):  # a few numbers of a large table
        return np.empty_like(like)
    memory = np.empty(size + _LINE, "u1")
    start = (address + low - memory.ctypes.data) % _LINE
    return np.ndarray(like.shape, like.dtype, memory.data, start - low, tuple(strides))


_LINE = 64
_MOST_TIMES, _LITTLE_BYTES = 64, 2**26
"""How much memory a copy may take, so as to have its elements as far apart: times their own, or in
all."""


def _copied_tensor(tensor: "Any") -> "Any":
    same = tensor.detach().clone()
    if same.stride() != tensor.stride():
        torch = sys.modules["torch"]
        same = torch.empty_strided(
            tensor.size(), tensor.stride(), dtype=tensor.dtype, device=tensor.device
        ).copy_(tensor.detach())
    return same.requires_grad_(tensor.requires_grad)


def _copied_object(value: "Any", change: "Callable[[Any], Any] | None") -> "Any":
    import copy

    fields = _fields(value)
    if fields is not None:
        same = copy.copy(value)
        for name in fields:
            item = duplicate(getattr(value, name), change)
            object.__setattr__(same, name, item)  # also of frozen ones
        return same
    if _opened(value) is not None:
        return sys.modules["jax"].tree.map(lambda leaf: duplicate(leaf, change), value)
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - whatever an object's own copying raises
        return value
