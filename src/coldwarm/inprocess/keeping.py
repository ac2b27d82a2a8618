"""What a function that is carried by value keeps from call to call: it would travel with it.

Found in its code: containers that it stores into, globals that it sets anew, attributes. A
container that it asks first whether something is in it is a memo, and travels empty; whatever else
is there already travels as it is, and is named.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import MutableMapping, MutableSequence, MutableSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coldwarm.functions import kinds, transfer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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

Path = tuple[str, ...]
"""A name, and the attributes on the way from it."""


@dataclass
class _Kept:
    """What would travel."""

    memos: dict[int, Any] = field(default_factory=dict)
    """By ``id``: those that travel empty."""
    others: list[str] = field(default_factory=list)
    """What the rest is called: it is there already, and travels as it is."""


def kept(function: object) -> _Kept:
    """Return what a function keeps, with all that travels with it by value."""
    found, seen = _Kept(), dict[int, Any]()
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
            _look(one, owner, found)
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


def _look(function: types.FunctionType, owner: object, found: _Kept) -> None:
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


def _at(scope: dict[str, Any], path: Path) -> Any:  # noqa: ANN401 - anything is kept
    """Return what is there under a path; ``None``: nothing."""
    value = scope.get(path[0])
    for name in path[1:]:
        value = (kinds.own_names(value) or {}).get(name)
    return value


def _stored(rows: Sequence[dis.Instruction]) -> Iterator[tuple[Path, bool]]:
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


def _asked(rows: Sequence[dis.Instruction]) -> Iterator[Path]:
    """Yield containers that are asked whether something is in them."""
    for place, row in enumerate(rows):
        asks = row.opname in {"LOAD_ATTR", "LOAD_METHOD"} and row.argval in _ASKS
        if row.opname == "CONTAINS_OP" or asks:
            path = _path(rows, place - 1)
            if path is not None:
                yield path


def _read(rows: Sequence[dis.Instruction]) -> Iterator[Path]:
    """Yield containers that an item is taken from."""
    for place, row in enumerate(rows):
        subscript = row.opname == "BINARY_SUBSCR" or row.argrepr == "[]"
        path = _container(rows, place - 1) if subscript else None
        if path is not None:
            yield path


def _catches(code: types.CodeType) -> bool:
    return bool({"KeyError", "LookupError"} & set(code.co_names))


def _container(rows: Sequence[dis.Instruction], end: int) -> Path | None:
    """Return the path of a container whose key is the expression that ends here."""
    missing, place = 1, end
    while place >= 0 and missing > 0:
        missing -= dis.stack_effect(rows[place].opcode, rows[place].arg, jump=False)
        place -= 1
    if missing < 0:  # one instruction has loaded both
        both = rows[place + 1].argval
        return (str(both[0]),) if isinstance(both, tuple) else None
    return _path(rows, place)


def _path(rows: Sequence[dis.Instruction], end: int) -> Path | None:
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
