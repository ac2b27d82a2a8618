"""How fresh processes get a function and its arguments: by name, or by value as one pickle.

By name, where a module or the file of the program has the function and the arguments are arrays and
plain values: then a fresh process does what the program does, and imports the module that the
function is of. It is found there where the module, or the file that runs as the program, has this
very object under a name. Otherwise, or where that does not work, as one pickle. Both are written
down before the first call, which may change what they hold.

In the pickle, what can be imported goes by its name, as in a plain program; what is of a notebook,
of the program itself or made inside a function goes by value, with what it keeps from call to call.
That is found in its code: containers that it stores into, globals that it sets anew, attributes. A
container that it asks first whether something is in it is a memo, and travels empty; whatever else
is there already travels as it is, and is named.
"""

from __future__ import annotations

import copy
import dis
import functools
import inspect
import io
import os
import re
import site
import sys
import sysconfig
import types
import weakref
from collections.abc import MutableMapping, MutableSequence, MutableSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import cloudpickle

from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.functions import kinds, transfer, values
from coldwarm.runner.functions.targets import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import BinaryIO

    from coldwarm.functions.arguments import Call


_CACHED = type(functools.lru_cache(len))
_NAMED = (type, types.FunctionType, types.BuiltinFunctionType)
_SHORT = 60
"""Characters of a key that are shown."""


class NotCarriedError(RefusedError):
    """Something cannot be pickled."""


_seen: weakref.WeakKeyDictionary[types.CodeType, int] = weakref.WeakKeyDictionary()
"""Calls of ``coldwarm.bench`` by the module-level code that they were made from."""


def count_call(caller: types.FrameType | None) -> dict[str, int]:
    """Count a call of ``coldwarm.bench``; return which one it is, by the module it is made in.

    A file that is read anew makes the same calls in the same order.
    """
    found = {}
    frame = caller
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            _seen[frame.f_code] = _seen.get(frame.f_code, 0) + 1
            found[frame.f_globals.get("__name__", "")] = _seen[frame.f_code]
        frame = frame.f_back
    return found


def _find(function: Any, scope: dict[str, Any], calls: dict[str, int]) -> Target | None:  # noqa: ANN401 - any callable
    """Return where a function is found by name; ``scope`` are the globals of who called.

    ``None``: nowhere, it is of this process alone.
    """
    of_object = isinstance(function, types.MethodType) and not isinstance(function.__self__, type)
    held = None if of_object else _held(function, scope)
    if held is None:
        return None
    module, name = held
    if module.__name__ == "__main__":
        spec = module.__spec__
        if spec is not None:  # what ``python -m`` runs
            root = _root(spec.name, _file(module))
            return Target(_label(name), spec.name, None, name, variables=variables(root))
        return _of_script(_program(module, function), name, calls.get("__main__"))
    path = _file(module)
    if path is None:  # it is built in
        return None
    root = _root(module.__name__, path)
    if root is None:  # loaded under a name that is not its path's
        return _of_script(path, name, None)
    return Target(_label(name), module.__name__, None, name, variables=variables(root))


def _of_script(file: Path | None, name: str, call: int | None) -> Target | None:
    """Return what is had by reading a file, to a call of ``coldwarm.bench`` in it."""
    if file is None:
        return None
    return Target(_label(name), file.stem, file, name, variables=variables(None), calls=call)


def _label(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _name_of_sync(function: Callable[..., Any], scope: dict[str, Any]) -> str | None:
    """Return the name of a function for ``--sync``: without a module where it is the program's.

    ``None``: no module holds it under a name.
    """
    held = _held(function, scope)
    if held is None:
        return None
    module, name = held
    return name if module.__name__ == "__main__" else f"{module.__name__}:{name}"


def _held(function: Any, scope: dict[str, Any]) -> tuple[types.ModuleType, str] | None:  # noqa: ANN401 - any callable
    """Return the module that holds a function, and its name there; ``None``: none does."""
    for module in _modules(function, scope):
        qualified = getattr(function, "__qualname__", None)
        if isinstance(qualified, str) and _same(_attribute(module, qualified), function):
            return module, qualified
        for name, value in list(vars(module).items()):
            if value is function and name.isidentifier():
                return module, name
    return None


def _modules(function: Any, scope: dict[str, Any]) -> Iterator[types.ModuleType]:  # noqa: ANN401 - as above
    """Yield the modules that may have it: its own, its class's, its caller's."""
    names = [getattr(function, "__module__", None), type(function).__module__]
    names.append(scope.get("__name__"))
    for name in dict.fromkeys(names):
        module = sys.modules.get(name) if isinstance(name, str) else None
        if isinstance(module, types.ModuleType):
            yield module


def _attribute(module: types.ModuleType | None, name: str) -> object:
    found: object = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _same(found: object, function: object) -> bool:
    # A method of a class is bound anew each time it is asked for.
    return found is function or (isinstance(function, types.MethodType) and found == function)


def _program(module: types.ModuleType, function: Any) -> Path | None:  # noqa: ANN401 - as above
    """Return the file of the running program, where the function is from it; or ``None``."""
    file = _file(module)
    code = getattr(inspect.unwrap(function), "__code__", None)
    in_program = code is None or file is None or _samefile(code.co_filename, file)
    elsewhere = code is not None and function.__module__ != "__main__"
    return file if in_program or elsewhere else None


def _samefile(name: str, file: Path) -> bool:
    try:
        return file.samefile(name)
    except OSError:
        return False


def _file(module: types.ModuleType) -> Path | None:
    name = getattr(module, "__file__", None)
    path = Path(name).absolute() if isinstance(name, str) else None
    return path if path is not None and path.is_file() else None


def _root(dotted: str, file: Path | None) -> Path | None:
    """Return the folder from which a file is imported by its dotted name; ``None``: none."""
    if file is None:
        return None
    parts = dotted.split(".")
    tail = file.parent if file.stem == "__init__" else file.with_suffix("")
    if file.suffix != ".py":  # an extension module's file has more than its name
        tail = file.with_name(file.name.partition(".")[0])
    if list(tail.parts[-len(parts) :]) != parts:
        return None
    return tail.parents[len(parts) - 1]


def variables(root: Path | None) -> dict[str, str]:
    """Return what a fresh process needs to be like this one: where it looks for modules."""
    folders = _folders()
    if root is not None and str(root) not in sys.path:
        folders.append(str(root))
    found = {"PYTHONPATH": os.pathsep.join(folders)} if folders else {}
    jax = sys.modules.get("jax")
    wide = jax is not None and getattr(jax.config, "jax_enable_x64", False)
    return {**found, "JAX_ENABLE_X64": "1"} if wide else found


def _folders() -> list[str]:
    paths = sysconfig.get_paths()
    known = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    known |= {*site.getsitepackages(), site.getusersitepackages()}
    known.add(str(Path(paths["stdlib"]) / "lib-dynload"))
    absolute = [os.path.abspath(one) for one in sys.path]  # noqa: PTH100 - as Python itself does
    return [one for one in absolute if one not in known and Path(one).is_dir()]


def name_of(function: object) -> str:
    """Return what a function is called."""
    return str(getattr(function, "__qualname__", None) or type(function).__qualname__)


@dataclass(frozen=True)
class Given:
    """Function to measure, and the place that asks for it."""

    function: Callable[..., Any]
    call: Call
    sync: Callable[[Any], Any] | None
    scope: dict[str, Any]
    """The globals of who called."""
    calls: dict[str, int]
    """Number of the call of ``coldwarm.bench``, by module."""
    label: str = ""
    """Name among several."""

    @property
    def name(self) -> str:
        """Name of the function."""
        return name_of(self.function)


def target_of(given: Given, folder: Path) -> Target:
    """Write down what fresh processes need; return how they have the function.

    Where it may not be found again by its name, the target has it by value as well.

    Raises:
        NotCarriedError: something cannot be pickled.
    """
    folder.mkdir()
    named = _by_name(given, folder / "named")
    if named is not None and named.path is None:
        return named
    # What a program defines late, or under its guard, it may not have when it is read again.
    try:
        carried = _carried(given, folder / "carried")
    except NotCarriedError:
        if named is None:
            raise
        return named
    return carried if named is None else replace(named, otherwise=carried)


def _by_name(given: Given, folder: Path) -> Target | None:
    target = _find(given.function, given.scope, given.calls)
    sync = None if given.sync is None else _name_of_sync(given.sync, given.scope)
    if target is None or (given.sync is not None and sync is None):
        return None
    folder.mkdir()
    try:
        transfer.write(given.call, str(folder))
    except transfer.UnsendableError:
        return None
    return replace(target, arguments=str(folder), sync=sync)


def _carried(given: Given, folder: Path) -> Target:
    folder.mkdir()
    state = _state_of(given.function)
    _pickle(given, folder, state.memos)
    module = getattr(given.function, "__module__", None) or "__main__"
    name = given.name.rpartition(".<locals>.")[2]
    return Target(
        re.sub(r"\W", "_", name).strip("_") or "function",
        module,
        None,
        name,
        variables=variables(None),
        arguments=str(folder),
        sync=None if given.sync is None else getattr(given.sync, "__qualname__", "sync"),
        carried=True,
        state=tuple(state.others),
    )


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc] # cloudpickle states no types
    """Notes the modules that things are of; leaves arrays on devices to ``transfer``."""

    def __init__(
        self,
        file: BinaryIO,
        writer: transfer.Writer | None,
        memos: Mapping[int, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__(file)
        self._writer, self._memos = writer, memos
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
    found = _attribute(sys.modules.get(value.__module__), str(value.__qualname__))
    return found is value and transfer.is_importable(value.__module__)


def _pickle(given: Given, folder: Path, memos: Mapping[int, Any]) -> None:
    """Write a function, its call and what waits for its results into a folder.

    ``memos``: those that go without what is in them, by their ``id``.

    Raises:
        NotCarriedError: something in it cannot be pickled.
    """
    function, call, sync = given.function, given.call, given.sync
    whole = (function, call.positional, call.named, sync)
    with (folder / transfer.PICKLE).open("wb") as file:
        pickler = _Pickler(file, transfer.Writer(str(folder)), memos)
        try:
            pickler.dump(whole)
        except Exception as error:  # whatever the pickling of an object raises
            search = _Search(given.scope)
            places = enumerate(call.positional, 1)
            parts = [(search.named(function, given.name), function), (name_of(sync), sync)]
            parts += [(search.named(one, f"argument {n}"), one) for n, one in places]
            parts += list(call.named.items())
            place, found = search.within(parts) or ("a part of it", whole)
            reason = because("not_carried", place=place, kind=_kind(found))
            raise NotCarriedError(reason) from error
    modules = [name for name in pickler.modules if transfer.is_importable(name)]
    transfer.write_modules(str(folder), modules)


def _kind(value: object) -> str:
    kind = type(value)
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )


class _Search:
    """Looks for the innermost thing that cannot be pickled."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self._names = {id(one): name for name, one in scope.items() if not name.startswith("_")}
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
                slots = shape.set_slots(value)
                yield from ((f"{place}.{member.__name__}", one) for member, one in slots)


def _of_function(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function has with it, under the names that its code has for it."""
    wrapped = kinds.Shape(type(function)).captured(function)
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
    except Exception:  # noqa: BLE001 - as in ``_pickle``
        return False
    return True


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
    """State that would travel."""

    memos: dict[int, Any] = field(default_factory=dict)
    """By ``id``: those that travel empty."""
    others: list[str] = field(default_factory=list)
    """Names of the rest: it is there already, and travels as it is."""


def _state_of(function: object) -> _State:
    """Return what a function keeps, with all that travels with it by value."""
    found, seen = _State(), dict[int, Any]()
    left: list[tuple[Any, Any]] = [(function, None)]
    while left and len(seen) < _MOST:
        one, owner = left.pop()
        if isinstance(one, types.MethodType):
            left.append((one.__func__, one.__self__))
            continue
        if id(one) in seen or _is_importable(one):
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


def _is_importable(one: object) -> bool:
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
    kinds = [kind for kind in type(one).__mro__ if not _is_importable(kind)]
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
