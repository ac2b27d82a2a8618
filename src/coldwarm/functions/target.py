"""Finds the thing a user named: a function, or a factory of one, in a file or a module."""

import os
import sys

from coldwarm.functions import script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any


class TargetError(Exception):
    """What was named is not there, or is not what it was taken for."""


class MissingNameError(TargetError):
    """The module has nothing under the name."""


def load(named: "Mapping[str, Any]") -> "ModuleType":
    """Import the module of ``named``: a dotted ``module``, or the file at ``path``.

    As for a program of the user's own, the folder of the file, or else the working
    directory, comes first on the search path; ``search`` are folders before it. A file with
    ``calls`` is read to that call of ``coldwarm.bench`` in it, where it has so many.
    """
    path = named["path"]
    place = os.path.dirname(path) if path else os.getcwd()  # noqa: PTH109, PTH120 - pathlib is not loaded yet
    sys.path[:0] = [*named["search"], place]
    if path is None:
        __import__(named["module"])
        return sys.modules[named["module"]]
    # What ``importlib.util`` re-exports, from where a bare interpreter holds it.
    import _frozen_importlib
    import _frozen_importlib_external

    name = named["module"]
    if name in sys.modules:
        text = f"{path} has the name of a module that Python has loaded already: rename the file"
        raise TargetError(text)
    spec = _frozen_importlib_external.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        text = f"{path} is no Python source file"
        raise TargetError(text)
    module = _frozen_importlib.module_from_spec(spec)
    package = _package(place)
    if package is not None:  # for its relative imports
        sys.path.append(package[0])
        module.__package__ = package[1]
        __import__(package[1])
    sys.modules[name] = module
    execute = spec.loader.exec_module
    if named.get("calls"):
        script.run_to(named["calls"], lambda: execute(module))
    else:
        execute(module)
    return module


def _package(folder: str) -> "tuple[str, str] | None":
    """Return the folder that a package lies in, and its name; ``None``: it is none."""
    names: list[str] = []
    while os.path.isfile(os.path.join(folder, "__init__.py")):  # noqa: PTH113, PTH118 - as above
        folder, _, name = folder.rpartition(os.sep)
        names.insert(0, name)
    return (
        (folder or os.sep, ".".join(names)) if names and all(map(str.isidentifier, names)) else None
    )


def resolve(module: "ModuleType", name: str) -> "Any":
    """Return ``name``, which may have dots, of a module.

    Raises:
        TargetError: it is not there, or cannot be called.
    """
    found: Any = module
    for part in name.split("."):
        try:
            found = getattr(found, part)  # once: what makes it as it is asked for takes its time
        except AttributeError:
            text = f"{module.__name__} has no {name!r}{_near(module, name)}"
            raise MissingNameError(text) from None
    if not callable(found):
        text = f"{module.__name__}:{name} is a {type(found).__name__}, which cannot be called"
        raise TargetError(text)
    return found


def resolve_sync(module: "ModuleType", named: str) -> "Any":
    """Return the function that waits for results: ``MODULE:NAME``, or a name of the user's module.

    Raises:
        TargetError: it is not there, or cannot be called.
    """
    place, _, name = named.rpartition(":")
    if place and place != module.__name__:
        try:
            __import__(place)
        except ImportError as error:
            text = f"--sync {named}: {error}"
            raise TargetError(text) from error
        module = sys.modules[place]
    return resolve(module, name)


def _near(module: "ModuleType", name: str) -> str:
    from difflib import get_close_matches

    own = [key for key, value in vars(module).items() if callable(value) and key[0] != "_"]
    near = get_close_matches(name, own, n=3, cutoff=0.3) or own[:6]
    return f"; it has {', '.join(near)}" if near else ", nor any other function"


def _parameters(function: "Any") -> "list[Any]":
    """Return the parameters of a signature; none where the function does not tell."""
    import inspect

    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def required(function: "Any") -> int | None:
    """Return how many arguments a function needs; ``None``: it does not tell."""
    import inspect

    try:
        inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return len(wanted(function))


def wanted(function: "Any") -> "list[str]":
    """Return the names of the parameters that have no default."""
    return [p.name for p in _parameters(function) if p.default is p.empty and not _many(p)]


def _many(parameter: "Any") -> bool:
    return parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}


def takes_more(function: "Any") -> bool:
    """Say whether any further arguments can be given by position, as with ``*args``."""
    return any(p.kind is p.VAR_POSITIONAL for p in _parameters(function))


def keyword_only(function: "Any") -> "set[str]":
    """Return the names of the parameters that must be given by name."""
    return {p.name for p in _parameters(function) if p.kind is p.KEYWORD_ONLY}


def positions(function: "Any") -> "list[str]":
    """Return the names of the parameters that can be given by position, in order."""
    return [
        p.name
        for p in _parameters(function)
        if p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD}
    ]
