"""What functions take and give: nested containers of arrays of any framework.

A framework is asked only if it is loaded: a value of a framework that nobody imported
cannot be there.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from leaves(value[key])
    elif isinstance(value, tuple | list):
        for item in value:
            yield from leaves(item)
    elif is_array(value) or isinstance(value, bool | int | float | complex | str | bytes):
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
    fields = getattr(type(value), "__dataclass_fields__", None)
    return None if fields is None else [getattr(value, name) for name in fields]


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
    return isinstance(value, kinds)


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


def kept(leaf: "Any") -> "bytes | str":
    """Return what tells one leaf's content from another's, of whatever kind it is."""
    try:
        array = to_host(leaf)
    except (TypeError, ValueError):
        return str(type(leaf))
    return f"{array.dtype.str}{array.shape}".encode() + array.tobytes()


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
    """Return a copy with its own arrays, finished; what is no array is shared."""
    if isinstance(value, dict):
        same = value.copy()  # of its own class, which may want more than its items
        for key, item in value.items():
            same[key] = duplicate(item)
        return same
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(duplicate(item) for item in value))
    if isinstance(value, tuple | list):
        return type(value)(duplicate(item) for item in value)
    if not is_array(value):
        return _tree_copy(value)
    copy = _copied(value)
    wait(copy)
    return copy


def _copied(array: "Any") -> "Any":
    if is_torch(array):
        return array.detach().clone().requires_grad_(array.requires_grad)
    if is_jax(array):
        return array.copy()
    return array.copy(order="K")  # in the order that its elements have


def _tree_copy(value: "Any") -> "Any":
    jax = sys.modules.get("jax")
    if jax is None or _opened(value) is None or hasattr(type(value), "__dataclass_fields__"):
        return value
    return jax.tree.map(duplicate, value)


def wait(value: "Any") -> None:
    """Wait until every array in a value is there, whatever framework it is of."""
    for waiter in waiters(value):
        waiter(value)


def waiters(value: "Any") -> "list[Callable[[Any], None]]":
    """Return what must be called with values like this one until they are there."""
    found = list(leaves(value))
    needed: list[Callable[[Any], None]] = []
    if any(is_jax(leaf) for leaf in found):
        needed.append(_wait_jax if len(found) > 1 or found[0] is not value else _wait_one)
    if any(is_torch(leaf) and leaf.is_cuda for leaf in found):
        needed.append(_wait_cuda)
    return needed


def _wait_one(value: "Any") -> None:
    value.block_until_ready()


def _wait_jax(value: "Any") -> None:
    sys.modules["jax"].block_until_ready(value)


def _wait_cuda(value: "Any") -> None:
    torch = sys.modules["torch"]
    devices = {leaf.device for leaf in leaves(value) if is_torch(leaf) and leaf.is_cuda}
    for device in devices:
        torch.cuda.current_stream(device).synchronize()
