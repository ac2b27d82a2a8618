"""A function and its arguments as one pickle, whatever they are; or what of them cannot be in one.

What can be imported goes by its name, as in a plain program; what is of a notebook, of the program
itself or made inside a function goes by value, with what it keeps from call to call. That is found
in its code: containers that it stores into, globals that it sets anew, attributes. A container that
it asks first whether something is in it is a memo, and travels empty; whatever else is there
already travels as it is, and is named.
"""

from __future__ import annotations

import copy
import dis
import functools
import io
import sys
import types
from collections.abc import MutableMapping, MutableSequence, MutableSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import cloudpickle

from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.functions import kinds, transfer, values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
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


_CHANGES = {
    "add", "append", "appendleft", "extend", "insert", "setdefault", "update", "__setitem__"
}  # fmt: skip
_ASKS = {"get", "setdefault", "pop", "__contains__"}
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_FAST", "LOAD_CLOSURE")
_MADE_BY = {"__init__", "__new__", "__post_init__", "__setstate__"}
"""Methods that make an object, before any call."""
_CONTAINERS = (MutableMapping, MutableSequence, MutableSet)
_IGNORED = {"CACHE", "EXTENDED_ARG", "NOP", "RESUME", "PRECALL", "PUSH_NULL"}
_MOST = 1000

_Names = tuple[str, ...]
"""A name, and the attributes on the way from it."""


@dataclass
class _State:
    """What would travel."""

    memos: dict[int, Any] = field(default_factory=dict)
    """By ``id``: those that travel empty."""
    others: list[str] = field(default_factory=list)
    """What the rest is called: it is there already, and travels as it is."""


def state_of(function: object) -> _State:
    """Return what a function keeps, with all that travels with it by value."""
    found, seen = _State(), dict[int, Any]()
    left: list[tuple[Any, Any]] = [(function, None)]
    while left and len(seen) < _MOST:
        one, owner = left.pop()
        if isinstance(one, types.MethodType):
            left.append((one.__func__, one.__self__))
            continue
        if id(one) in seen or _by_name(one):
            continue
        seen[id(one)] = one
        if isinstance(one, types.FunctionType):
            _look_into(one, owner, found)
            left += [(inner, None) for inner in _used(one)]
            if owner is not None:
                left.append((owner, None))
        elif isinstance(one, functools.partial):
            left.append((one.func, None))
        else:
            left += _methods(one)
    found.others = sorted(set(found.others))
    return found


def _by_name(one: object) -> bool:
    """Say whether a fresh process has it by its name."""
    named = one if isinstance(one, (type, types.FunctionType, types.ModuleType)) else type(one)
    if isinstance(one, types.ModuleType):
        return True
    module, name = getattr(named, "__module__", None), getattr(named, "__qualname__", "")
    if named is functools.partial or not module or not transfer.is_importable(str(module)):
        return False
    return isinstance(named, type) or ("<locals>" not in name and "<lambda>" not in name)


def _methods(one: object) -> list[tuple[Any, Any]]:
    """Return the functions of an object's class, each with the object; a cached one's own."""
    wrapped = getattr(one, "__wrapped__", None)
    if wrapped is not None:
        return [(wrapped, None)]
    kinds = [kind for kind in type(one).__mro__ if not _by_name(kind)]
    found = [pair for kind in kinds for pair in vars(kind).items()]
    return [
        (value, one)
        for name, value in found
        if isinstance(value, types.FunctionType) and name not in _MADE_BY
    ]


def _scope(function: types.FunctionType, owner: object) -> dict[str, Any]:
    """Return what the names in a function's code stand for before it is called."""
    code = function.__code__
    scope = dict(function.__globals__)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            scope[name] = cell.cell_contents
        except ValueError:  # it is not filled yet
            scope.pop(name, None)
    given = code.co_varnames[: code.co_argcount]
    for name in (*code.co_varnames, *code.co_cellvars):
        scope.pop(name, None)
    defaults = function.__defaults__ or ()
    scope.update(zip(given[len(given) - len(defaults) :], defaults, strict=False))
    scope.update(function.__kwdefaults__ or {})
    if owner is not None and given:
        scope[given[0]] = owner
    return scope


def _used(function: types.FunctionType) -> Iterator[Any]:
    """Yield what a function's code, and the functions in it, name of globals and closures."""
    yield from (vars(function).get("__wrapped__"), *vars(function).values())
    scope = _scope(function, None)
    for code in _codes(function.__code__):
        for name in (*code.co_names, *code.co_freevars):
            one = scope.get(name)
            if one is not None and not isinstance(one, type) and type(one) not in _PLAIN:
                yield one


_PLAIN = {bool, int, float, complex, str, bytes, dict, list, set, tuple}


def _codes(code: types.CodeType) -> list[types.CodeType]:
    found = [code]
    for one in found:
        found += [inner for inner in one.co_consts if isinstance(inner, types.CodeType)]
    return found


def _look_into(function: types.FunctionType, owner: object, found: _State) -> None:
    scope = _scope(function, owner)
    for code in _codes(function.__code__):
        rows = [row for row in dis.get_instructions(code) if row.opname not in _IGNORED]
        asked = set(_asked(rows)) | (set(_read(rows)) if _catches(code) else set())
        for path, content in _stored(rows):
            value = _at(scope, path)
            if value is None or (content and not (isinstance(value, _CONTAINERS) and len(value))):
                continue
            memo = content and path in asked and isinstance(value, (MutableMapping, MutableSet))
            if memo:
                found.memos[id(value)] = value
            else:
                found.others.append(".".join(path))


def _at(scope: dict[str, Any], path: _Names) -> Any:  # noqa: ANN401 - anything is kept
    """Return what is there under a path; ``None``: nothing."""
    value = scope.get(path[0])
    for name in path[1:]:
        value = (kinds.own_names(value) or {}).get(name)
    return value


def _stored(rows: Sequence[dis.Instruction]) -> Iterator[tuple[_Names, bool]]:
    """Yield what is stored into, and whether as a content, or else as a whole."""
    for place, row in enumerate(rows):
        if row.opname in {"STORE_GLOBAL", "STORE_DEREF"}:
            yield (str(row.argval),), False
        elif row.opname == "STORE_ATTR":
            path = _path(rows, place - 1)
            if path is not None:
                yield (*path, str(row.argval)), False
        elif row.opname == "STORE_SUBSCR":
            path = _container(rows, place - 1)
            if path is not None:
                yield path, True
        elif row.opname in {"LOAD_ATTR", "LOAD_METHOD"} and row.argval in _CHANGES:
            path = _path(rows, place - 1)
            if path is not None:
                yield path, True


def _asked(rows: Sequence[dis.Instruction]) -> Iterator[_Names]:
    """Yield containers that are asked whether something is in them."""
    for place, row in enumerate(rows):
        asks = row.opname in {"LOAD_ATTR", "LOAD_METHOD"} and row.argval in _ASKS
        if row.opname == "CONTAINS_OP" or asks:
            path = _path(rows, place - 1)
            if path is not None:
                yield path


def _read(rows: Sequence[dis.Instruction]) -> Iterator[_Names]:
    """Yield containers that an item is taken from."""
    for place, row in enumerate(rows):
        subscript = row.opname == "BINARY_SUBSCR" or row.argrepr == "[]"
        path = _container(rows, place - 1) if subscript else None
        if path is not None:
            yield path


def _catches(code: types.CodeType) -> bool:
    return bool({"KeyError", "LookupError"} & set(code.co_names))


def _container(rows: Sequence[dis.Instruction], end: int) -> _Names | None:
    """Return the path of a container whose key is the expression that ends here."""
    missing, place = 1, end
    while place >= 0 and missing > 0:
        missing -= dis.stack_effect(rows[place].opcode, rows[place].arg, jump=False)
        place -= 1
    if missing < 0:  # one instruction has loaded both
        both = rows[place + 1].argval
        return (str(both[0]),) if isinstance(both, tuple) else None
    return _path(rows, place)


def _path(rows: Sequence[dis.Instruction], end: int) -> _Names | None:
    """Return the path that the instructions up to here load; ``None``: it is something else."""
    if end < 0:
        return None
    row = rows[end]
    if row.opname in {"LOAD_ATTR", "LOAD_METHOD"}:
        path = _path(rows, end - 1)
        return None if path is None else (*path, str(row.argval))
    if not row.opname.startswith(_LOADS):
        return None
    name = row.argval[-1] if isinstance(row.argval, tuple) else row.argval
    return (str(name),)
