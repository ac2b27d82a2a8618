"""How fresh processes get a function and its arguments.

By name, where a module or the file of the program has the function and the arguments are arrays and
plain values: then a fresh process does what the program does, and imports the module that the
function is of. It is found there where the module, or the file that runs as the program, has this
very object under a name. Otherwise, or where that does not work, as one pickle. Both are written
down before the first call, which may change what they hold.
"""

from __future__ import annotations

import inspect
import os
import re
import site
import sys
import sysconfig
import types
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldwarm.functions import transfer
from coldwarm.inprocess import carrying
from coldwarm.runner.functions.targets import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from coldwarm.functions.arguments import Call


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


def find(function: Any, scope: dict[str, Any], calls: dict[str, int]) -> Target | None:  # noqa: ANN401 - any callable
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


def _attribute(module: types.ModuleType, name: str) -> object:
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
    """What is measured, and from where it was asked for."""

    function: Callable[..., Any]
    call: Call
    sync: Callable[[Any], Any] | None
    scope: dict[str, Any]
    """The globals of who called."""
    calls: dict[str, int]
    """Which call of ``coldwarm.bench`` it is, by module."""
    label: str = ""
    """What it is called among several."""

    @property
    def name(self) -> str:
        """What the function is called."""
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
    except carrying.NotCarriedError:
        if named is None:
            raise
        return named
    return carried if named is None else replace(named, otherwise=carried)


def _by_name(given: Given, folder: Path) -> Target | None:
    target = find(given.function, given.scope, given.calls)
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
    names = carrying.by_identity(given.scope)
    state = carrying.state_of(given.function)
    carrying.write(given.call, given.function, given.sync, folder, names, memos=state.memos)
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
