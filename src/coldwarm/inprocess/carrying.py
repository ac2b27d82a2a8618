"""A function and its arguments as one pickle, whatever they are; or what of them cannot be in one.

What can be imported goes by its name, as in a plain program; what is of a notebook, of the program
itself or made inside a function goes by value.
"""

from __future__ import annotations

import copy
import functools
import io
import sys
import types
from typing import TYPE_CHECKING, Any

import cloudpickle

from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.functions import kinds, transfer, values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

    from coldwarm.functions.arguments import Call

_CACHED = type(functools.lru_cache(len))
_NAMED = (type, types.FunctionType, types.BuiltinFunctionType)
_SHORT = 60
"""Characters of a key that are shown."""


class NotCarriedError(RefusedError):
    """Something cannot be pickled."""


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc] # cloudpickle states no types
    """Notes the modules that things are of; leaves arrays on devices to ``transfer``."""

    def __init__(
        self,
        file: BinaryIO,
        writer: transfer.Writer | None,
        memos: Mapping[int, Any] | None = None,
    ) -> None:
        super().__init__(file)
        self._writer = writer
        self._memos = memos or {}
        self.modules: dict[str, None] = {}

    def persistent_id(self, value: Any) -> Any:  # noqa: ANN401 - anything is pickled
        """Return how an array of JAX or PyTorch is made again; ``None`` for all else."""
        kind = type(value)
        if kind is types.ModuleType:
            self.modules[value.__name__] = None
        elif issubclass(kind, _NAMED):
            self.modules[str(value.__module__)] = None
        elif values.is_jax(value) or values.is_torch(value):
            return True if self._writer is None else self._writer.described("an array", value)
        elif id(value) in self._memos and kind in {dict, set}:
            return {"kind": "empty", "of": kind.__name__, "number": id(value)}
        return None

    def reducer_override(self, value: Any) -> Any:  # noqa: ANN401 - as above
        """Return how a cached function, or a memo of its own class, is made without answers."""
        if type(value) is _CACHED and not _is_by_name(value):
            settings = value.cache_parameters()
            return transfer.cached, (value.__wrapped__, settings["maxsize"], settings["typed"])
        if id(value) in self._memos:
            same = copy.deepcopy(value)
            same.clear()
            return same.__reduce_ex__(4)
        return super().reducer_override(value)


def _is_by_name(value: Any) -> bool:  # noqa: ANN401 - as above
    """Say whether a fresh process finds a cached function under its name."""
    found: Any = sys.modules.get(value.__module__)
    for part in str(value.__qualname__).split("."):
        found = getattr(found, part, None)
    return found is value and transfer.is_importable(value.__module__)


def write(  # noqa: PLR0913 - what is carried
    call: Call,
    function: object,
    sync: object,
    folder: Path,
    names: dict[int, str],
    *,
    memos: Mapping[int, Any] | None = None,
) -> None:
    """Write a function, its call and what waits for its results into a folder.

    ``names``: what objects are called where the function was given, by their ``id``. ``memos``:
    those that go without what is in them, likewise.

    Raises:
        NotCarriedError: something in it cannot be pickled.
    """
    whole = (function, call.positional, call.named, sync)
    with (folder / transfer.PICKLE).open("wb") as file:
        pickler = _Pickler(file, transfer.Writer(str(folder)), memos)
        try:
            pickler.dump(whole)
        except Exception as error:  # whatever the pickling of an object raises
            search = _Search(names)
            places = enumerate(call.positional, 1)
            given = [(search.named(function, _name(function)), function), (_name(sync), sync)]
            given += [(search.named(one, f"argument {n}"), one) for n, one in places]
            given += list(call.named.items())
            place, found = search.within(given) or ("a part of it", whole)
            reason = because("not_carried", place=place, kind=_kind(found))
            raise NotCarriedError(reason) from error
    modules = [name for name in pickler.modules if transfer.is_importable(name)]
    transfer.write_modules(str(folder), modules)


def _name(function: object) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _kind(value: object) -> str:
    kind = type(value)
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )


class _Search:
    """Looks for the innermost thing that cannot be pickled."""

    def __init__(self, names: dict[int, str]) -> None:
        self._names = names
        self._seen: set[int] = set()

    def within(self, parts: list[tuple[str, Any]]) -> tuple[str, Any] | None:
        """Return the place and the thing; ``None``: each part can be pickled by itself."""
        for place, one in parts:
            if id(one) in self._seen or _carries(one):
                continue
            self._seen.add(id(one))
            return self.within(list(self._parts(place, one))) or (place, one)
        return None

    def named(self, value: object, otherwise: str) -> str:
        """Return what a value is called where the function was given."""
        return self._names.get(id(value), otherwise)

    def _parts(self, place: str, value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - anything
        if isinstance(value, types.MethodType):
            owner = value.__self__
            yield self.named(owner, type(owner).__qualname__), owner
            yield place, value.__func__
        elif isinstance(value, types.FunctionType):
            yield from _of_function(value)
        elif isinstance(value, functools.partial):
            yield from [(place, value.func), *value.keywords.items()]
            yield from ((f"argument {n} of {place}", one) for n, one in enumerate(value.args, 1))
        elif isinstance(value, dict):
            yield from ((f"{place}[{key!r:.{_SHORT}}]", one) for key, one in value.items())
        elif isinstance(value, list | tuple):
            yield from ((f"{place}[{n}]", one) for n, one in enumerate(value))
        elif isinstance(value, type):
            yield from ((f"{place}.{name}", one) for name, one in vars(value).items())
        else:
            own = kinds.own_names(value) or {}
            shape = kinds.Shape(type(value))
            yield from ((f"{place}.{name}", one) for name, one in own.items())
            if not shape.is_plain and not shape.is_skipped:
                slots = kinds.set_slots(value, shape)
                yield from ((f"{place}.{member.__name__}", one) for member, one in slots)


def _of_function(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function has with it, under the names that its code has for it."""
    wrapped = kinds.captured(function, kinds.Shape(type(function)))
    cells = function.__closure__ or ()
    named = dict(zip(function.__code__.co_freevars, cells, strict=False))
    for name, cell in named.items():
        try:
            yield name, cell.cell_contents
        except ValueError:  # it is not filled yet
            continue
    codes = [function.__code__]
    for code in codes:
        codes += [one for one in code.co_consts if isinstance(one, types.CodeType)]
        for name in code.co_names:
            if name in function.__globals__:
                yield name, function.__globals__[name]
    yield from ((f"a default of {function.__qualname__}", one) for one in wrapped)


def _carries(value: object) -> bool:
    try:
        _Pickler(io.BytesIO(), None).dump(value)
    except Exception:  # noqa: BLE001 - as in ``write``
        return False
    return True


def by_identity(scope: dict[str, Any]) -> dict[int, str]:
    """Return what the objects of a scope are called in it."""
    return {id(value): name for name, value in scope.items() if not name.startswith("_")}


def of_its_own(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of a copy of its object, as far as it can be copied; others as they are.

    Its calls may change the object, as others may change their arguments.
    """
    if not isinstance(function, types.MethodType):
        return function
    owner = function.__self__
    if isinstance(owner, type | types.ModuleType):
        return function
    return types.MethodType(function.__func__, values.duplicate(owner))
