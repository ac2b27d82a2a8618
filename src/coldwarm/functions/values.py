"""What functions take and give: nested containers of arrays of any framework.

A framework is asked only if it is loaded: a value of a framework that nobody imported
cannot be there.
"""

import sys

from coldwarm.frameworks.base import module_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import numpy as np


class IncomparableError(TypeError):
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
        inside = _opened(value)
        if inside is None:
            yield value
        else:
            yield from leaves(inside)


def _opened(value: "Any") -> "list[Any] | None":
    """Return what a registered tree or a dataclass holds; ``None``: it is neither."""
    jax = sys.modules.get("jax")
    if jax is not None:
        inside = jax.tree.leaves(value)
        if len(inside) != 1 or inside[0] is not value:
            return list(inside)
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


def to_host(leaf: "Any") -> "np.ndarray[Any, Any]":
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
    array = np.asarray(leaf)
    if array.dtype.name == "bfloat16":
        array = array.astype("float32")
    if array.dtype.kind not in "biufc":
        text = (
            f"the output holds a {type(leaf).__name__}, which cannot be compared: return arrays"
            " or numbers (in tuples, lists, dicts), or give --no-check"
        )
        raise IncomparableError(text)
    return np.array(array)


def on_host(value: "Any") -> "list[Any]":
    """Return what is inside, all numbers copied to the host; what is none stays as it is."""
    found = []
    for leaf in leaves(value):
        try:
            found.append(to_host(leaf))
        except (TypeError, ValueError):
            found.append(leaf)
    return found


def kept(leaf: "Any") -> "bytes | str":
    """Return what tells one leaf's content from another's, of whatever kind it is."""
    try:
        array = to_host(leaf)
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
        content = kept(leaf)
        found.update(content if isinstance(content, bytes) else content.encode())
    return found.hexdigest()


def is_strided(leaf: "Any") -> bool:
    """Say whether an array's elements lie apart, or in an order of their own."""
    if is_torch(leaf):
        return not leaf.is_contiguous()
    flags = getattr(leaf, "flags", None) if _is(leaf, "numpy", "ndarray") else None
    return flags is not None and not flags.forc


def duplicate(value: "Any") -> "Any":
    """Return a copy with its own arrays, finished; what cannot be copied is shared."""
    import copy

    if is_array(value):
        same = _copied(value)
        if is_jax(same):
            same.block_until_ready()
        return same
    # Containers may be of classes of their own, which want more than their items.
    if isinstance(value, dict):
        same = copy.copy(value)
        for key, item in value.items():
            same[key] = duplicate(item)
        return same
    if isinstance(value, list):
        same = copy.copy(value)
        same[:] = map(duplicate, value)
        return same
    if isinstance(value, tuple):
        return tuple.__new__(type(value), map(duplicate, value))
    return _copied_object(value)


def _copied(array: "Any") -> "Any":
    if is_torch(array):
        return array.detach().clone().requires_grad_(array.requires_grad)
    if is_jax(array):
        return module_of("jax").copied(array)
    return array.copy(order="K")  # in the order that its elements have


def _copied_object(value: "Any") -> "Any":
    import copy

    fields = _fields(value)
    if fields is not None:
        same = copy.copy(value)
        for name in fields:
            object.__setattr__(same, name, duplicate(getattr(value, name)))  # also of frozen ones
        return same
    if _opened(value) is not None:
        return sys.modules["jax"].tree.map(duplicate, value)
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - whatever an object's own copying raises
        return value
