"""Where a fresh process finds a function that this one has; or why it cannot.

A fresh process imports the module that the function is of. It is found there where the
module, or the file that runs as the program, has this very object under a name.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import site
import sys
import sysconfig
import types
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.runner.functions.targets import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from coldwarm.contracts.reasons import Reason

_seen: weakref.WeakKeyDictionary[types.CodeType, int] = weakref.WeakKeyDictionary()
"""Calls of ``coldwarm.bench`` by the module-level code that they were made from."""


class NotFoundError(RefusedError):
    """A fresh process could not find the function."""


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


def find(function: Callable[..., Any], scope: dict[str, Any], calls: dict[str, int]) -> Target:
    """Return where a function is found; ``scope`` are the globals of who called.

    Raises:
        NotFoundError: nowhere.
    """
    if isinstance(function, types.MethodType) and not isinstance(function.__self__, type):
        owner = type(function.__self__).__qualname__
        raise NotFoundError(because("method_of_object", owner=owner))
    module, name = _held(function, scope)
    label = re.sub(r"\W", "_", name)
    path = None if module.__name__ == "__main__" else _file(module)
    if module.__name__ != "__main__" and path is None:
        raise NotFoundError(because("built_in", module=module.__name__))
    spec = getattr(module, "__spec__", None)
    if path is None and spec is None:  # a script, and not what ``python -m`` runs
        path = _program(module, function)
        count = calls.get("__main__")
        return Target(label, path.stem, path, name, variables=_variables(None), calls=count)
    dotted = str(getattr(spec, "name", module.__name__)) if path is None else module.__name__
    root = _root(dotted, path or _file(module))
    if root is None and path is not None:  # loaded under a name that is not its path's
        return Target(label, path.stem, path, name, variables=_variables(None))
    return Target(label, dotted, None, name, variables=_variables(root))


def named(function: Callable[..., Any], scope: dict[str, Any]) -> str:
    """Return the name of a function for ``--sync``: without a module where it is the program's.

    Raises:
        NotFoundError: no module holds it under a name.
    """
    module, name = _held(function, scope)
    return name if module.__name__ == "__main__" else f"{module.__name__}:{name}"


def _held(function: Any, scope: dict[str, Any]) -> tuple[types.ModuleType, str]:  # noqa: ANN401 - any callable
    for module in _modules(function, scope):
        qualified = getattr(function, "__qualname__", None)
        if isinstance(qualified, str) and _same(_attribute(module, qualified), function):
            return module, qualified
        for name, value in list(vars(module).items()):
            if value is function and name.isidentifier():
                return module, name
    raise NotFoundError(_why_not(function, scope))


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


def _why_not(function: Any, scope: dict[str, Any]) -> Reason:  # noqa: ANN401 - as above
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if isinstance(function, functools.partial):
        return because("partial")
    if "<lambda>" in name:
        return because("lambda")
    if "<locals>" in name:
        return because("made_inside", function=name.partition(".<locals>")[0])
    module = getattr(function, "__module__", None) or scope.get("__name__", "its module")
    if module == "__main__" and "__file__" not in scope:
        return because("typed_in")
    return because("another_object", name=f"{module}.{name}")


def _program(module: types.ModuleType, function: Any) -> Path:  # noqa: ANN401 - as above
    """Return the file of the running program, which is where the function must be from."""
    file = _file(module)
    code = getattr(inspect.unwrap(function), "__code__", None)
    in_program = code is None or file is None or _samefile(code.co_filename, file)
    elsewhere = code is not None and function.__module__ != "__main__"
    if file is None or not (in_program or elsewhere):
        raise NotFoundError(because("typed_in"))
    return file


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


def _variables(root: Path | None) -> dict[str, str]:
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
