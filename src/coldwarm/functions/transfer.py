"""Arguments transferred from one process to another, through files in a folder.

Arrays go as ``.npy`` files, with the framework, the type and the device that they had;
numbers, strings and containers of them as a line of JSON. Numbers with a point are
written by their bits. Where the function itself or any other object goes, all go as one pickle,
with the names of the modules that have to be imported first.
"""

import os
import sys

from coldwarm import wire
from coldwarm.functions import arguments, unfinished, values
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

_LINE = "arguments.json"
PICKLE, MODULES = "carried.pickle", "modules.json"
_KINDS = "biufcSUmM"
"""Kinds of NumPy's types that its files hold without pickling."""


class UnsendableError(TypeError):
    """A value that cannot be transferred; the message names it and says what can."""


def write(call: "arguments.Call", folder: str) -> None:
    """Write a call's arguments down.

    Raises:
        UnsendableError: one of them is neither array, number, string nor a plain container.
    """
    writer = Writer(folder)
    places = enumerate(call.positional, 1)
    message = {
        "positional": [writer.described(f"argument {n}", one) for n, one in places],
        "named": [[name, writer.described(name, one)] for name, one in call.named.items()],
    }
    with open(os.path.join(folder, _LINE), "wb") as file:
        file.write(wire.encode(message))


def read(folder: str) -> "arguments.Call":
    """Return the call that was written, its arrays where they were."""
    with open(os.path.join(folder, _LINE), "rb") as file:
        message = wire.decode_bare(file.read())
    known: dict[str, Any] = {}
    positional = tuple(_made(one, folder, known) for one in message["positional"])
    return arguments.Call(
        positional, {name: _made(one, folder, known) for name, one in message["named"]}
    )


def frameworks(folder: str) -> "list[str]":
    """Return the frameworks of the arrays that were written, NumPy first: what ``read`` imports."""
    with open(os.path.join(folder, _LINE), "rb") as file:
        message = wire.decode_bare(file.read())
    entries = [*message["positional"], *(entry for _, entry in message["named"])]
    found = set()
    while entries:
        entry = entries.pop()
        if entry["kind"] == "array":
            found |= {"numpy", entry["framework"]}
        elif entry["kind"] == "dict":
            entries += [one for pair in entry["items"] for one in pair]
        else:
            entries += entry.get("items", ())
    return sorted(found, key=lambda name: (name != "numpy", name))


def carried_modules(folder: str) -> "list[str]":
    """Return the modules that are imported before a pickle is loaded, in that order."""
    with open(os.path.join(folder, MODULES), "rb") as file:
        return list(wire.decode_bare(file.read())["modules"])


def write_modules(folder: str, names: "list[str]") -> None:
    """Write down which modules are imported before a pickle is loaded."""
    with open(os.path.join(folder, MODULES), "wb") as file:
        file.write(wire.encode({"modules": names}))


def is_importable(name: str) -> bool:
    """Say whether a loaded module is one that another process can import by its name."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return name != "__main__" and name.partition(".")[0] not in _OWN and spec is not None


_OWN = {"coldwarm", "cloudpickle"}


def load(folder: str) -> "tuple[Any, arguments.Call, Any]":
    """Return the function, the call and what waits for results of a pickle, once more."""
    from _pickle import Unpickler

    known: dict[str, Any] = {}

    class Loader(Unpickler):
        """Places the arrays that lie beside the pickle."""

        def persistent_load(self, entry: "Any") -> "Any":
            """Return an array of a file."""
            return _made(entry, folder, known)

    with open(os.path.join(folder, PICKLE), "rb") as file:
        function, positional, named, sync = Loader(file).load()
    return function, arguments.Call(positional, named), sync


def load_noting(folder: str) -> "tuple[Any, arguments.Call, Any]":
    """Load a pickle, and write down the modules that came with it: later ones import them first."""
    before = set(sys.modules)
    __import__("cloudpickle")
    own = set(sys.modules) - before
    found = load(folder)
    late = [name for name in list(sys.modules) if name not in before and name not in own]
    names = carried_modules(folder)
    write_modules(folder, names + [name for name in late if is_importable(name)])
    return found


def cached(function: "Any", maxsize: "int | None", typed: bool) -> "Any":  # noqa: FBT001 - it goes by position
    """Return a function under ``functools.lru_cache`` that has kept nothing yet."""
    from functools import lru_cache

    return lru_cache(maxsize, typed)(function)


class Writer:
    """Describes values, and writes the arrays among them; each array once."""

    def __init__(self, folder: str) -> None:
        """Write into a folder."""
        self._folder = folder
        self._known: dict[int, tuple[Any, dict[str, Any]]] = {}

    def described(self, place: str, value: "Any") -> "dict[str, Any]":
        """Return what ``_made`` makes the value of again."""
        if value is None or type(value) in _PLAIN:
            return {"kind": "value", "value": value}
        if type(value) is float:
            return {"kind": "float", "value": value.hex()}
        if type(value) is complex:
            return {"kind": "complex", "value": [value.real.hex(), value.imag.hex()]}
        if type(value) in {tuple, list}:
            items = [self.described(f"{place}[{n}]", one) for n, one in enumerate(value)]
            return {"kind": type(value).__name__, "items": items}
        if type(value) is dict:
            return {"kind": "dict", "items": self._pairs(place, value)}
        if id(value) not in self._known:
            self._known[id(value)] = (value, self._array(place, value))
        return self._known[id(value)][1]

    def _pairs(self, place: str, value: "dict[Any, Any]") -> "list[Any]":
        return [
            [self.described(f"a key of {place}", key), self.described(f"{place}[{key!r}]", one)]
            for key, one in value.items()
        ]

    def _array(self, place: str, value: "Any") -> "dict[str, Any]":
        import numpy as np

        if values.is_jax(value):
            array, entry = _of_jax(place, value)
        elif values.is_torch(value):
            array, entry = _of_torch(place, value)
        elif type(value) is np.ndarray or isinstance(value, np.generic):
            array, entry = np.asarray(value), {"framework": "numpy"}
            entry["scalar"] = isinstance(value, np.generic)
            entry["fixed"] = not array.flags.writeable
            if not array.flags.forc and array.size:
                entry["strides"] = [*array.strides]
                entry["start"] = array.ctypes.data
        else:
            raise _unsendable(place, value)
        if array.dtype.kind not in _KINDS or array.dtype.names is not None:
            raise _unsendable(place, value, f" of {array.dtype}")
        name = f"{len(self._known)}.npy"
        np.save(os.path.join(self._folder, name), array, allow_pickle=False)
        return {"kind": "array", "file": name, **entry}


_PLAIN = {bool, int, str}


def _unsendable(place: str, value: "Any", of: str = "") -> UnsendableError:
    kind = type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    text = (
        f"{place} is a {module}{kind.__qualname__}{of}, which cannot be handed to another process:"
        " give arrays, numbers and strings, in tuples, lists and dicts"
    )
    return UnsendableError(text)


def _of_jax(place: str, value: "Any") -> "tuple[np.ndarray[Any, Any], dict[str, Any]]":
    import jax
    import numpy as np

    if len(value.devices()) > 1:
        raise _unsendable(place, value, " on several devices")
    entry: dict[str, Any] = {
        "framework": "jax",
        "platform": next(iter(value.devices())).platform,
    }
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        entry["key"] = str(jax.random.key_impl(value))
        return np.asarray(jax.random.key_data(value)), entry
    array = np.asarray(value)
    entry["weak"] = bool(getattr(value, "weak_type", False)) and array.ndim == 0
    if array.dtype.kind == "V":  # bfloat16 and others that NumPy's files do not know
        entry["bits_of"] = array.dtype.name
        array = array.view(f"u{array.dtype.itemsize}")
    return array, entry


def _of_torch(place: str, value: "Any") -> "tuple[np.ndarray[Any, Any], dict[str, Any]]":
    import torch

    if type(value) is not torch.Tensor or value.layout is not torch.strided:
        raise _unsendable(place, value)
    entry: dict[str, Any] = {"framework": "torch", "device": str(value.device)}
    entry["requires_grad"] = value.requires_grad
    if not value.is_contiguous():
        entry["strides"] = [*value.stride()]
    host = value.detach().to("cpu").resolve_conj().resolve_neg()
    try:
        array = host.numpy()
    except TypeError:  # bfloat16 and others that NumPy lacks
        bits = {1: "uint8", 2: "int16"}[host.element_size()]
        entry["bits_of"] = str(host.dtype).removeprefix("torch.")
        array = host.contiguous().view(getattr(torch, bits)).numpy()
    return array, entry


def _made(entry: "dict[str, Any]", folder: str, known: "dict[str, Any]") -> "Any":
    kind = entry["kind"]
    if kind == "empty":
        return known.setdefault(entry["number"], {"dict": dict, "set": set}[entry["of"]]())
    return _plain(entry) if kind in _SCALARS else _made_of_others(entry, folder, known)


_SCALARS = {"value", "float", "complex"}


def _plain(entry: "dict[str, Any]") -> "Any":
    if entry["kind"] == "value":
        return entry["value"]
    if entry["kind"] == "float":
        return float.fromhex(entry["value"])
    return complex(*map(float.fromhex, entry["value"]))


def _made_of_others(entry: "dict[str, Any]", folder: str, known: "dict[str, Any]") -> "Any":
    kind = entry["kind"]
    if kind == "dict":
        pairs = entry["items"]
        return {_made(k, folder, known): _made(one, folder, known) for k, one in pairs}
    if kind in {"tuple", "list"}:
        items = [_made(one, folder, known) for one in entry["items"]]
        return items if kind == "list" else tuple(items)
    if entry["file"] not in known:
        known[entry["file"]] = _placed(entry, os.path.join(folder, entry["file"]))
    return known[entry["file"]]


def _placed(entry: "dict[str, Any]", path: str) -> "Any":
    """Return an array of a file as its framework has it, finished."""
    import numpy as np

    array = np.load(path, allow_pickle=False)
    if entry["framework"] == "numpy":
        return array[()] if entry["scalar"] else _as_it_lay(entry, array)
    placed = _to_torch(entry, array) if entry["framework"] == "torch" else _to_jax(entry, array)
    unfinished.wait(placed)
    return placed


def _as_it_lay(entry: "dict[str, Any]", array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Return an array with the layout in memory that it had, for which a compiler compiles."""
    if "strides" in entry:
        same = values.laid_out(array, entry["strides"], entry["start"])
        same[...] = array
        array = same
    array.flags.writeable = not entry["fixed"]
    return array


def _to_torch(entry: "dict[str, Any]", array: "np.ndarray[Any, Any]") -> "Any":
    import torch

    tensor = torch.tensor(array)
    if "bits_of" in entry:
        tensor = tensor.view(getattr(torch, entry["bits_of"]))
    if "strides" in entry:
        apart = torch.empty_strided(tensor.size(), entry["strides"], dtype=tensor.dtype)
        tensor = apart.copy_(tensor)
    return tensor.to(entry["device"]).requires_grad_(entry["requires_grad"])


def _to_jax(entry: "dict[str, Any]", array: "np.ndarray[Any, Any]") -> "Any":
    import jax

    if "key" in entry:
        return jax.random.wrap_key_data(jax.device_put(array), impl=entry["key"])
    if entry["weak"]:
        return jax.device_put(array.item())
    if "bits_of" in entry:
        array = array.view(jax.numpy.dtype(entry["bits_of"]))
    if entry["platform"] != jax.default_backend():
        return jax.device_put(array, jax.devices(entry["platform"])[0])
    return arguments.place(array, "jax", "an argument")
