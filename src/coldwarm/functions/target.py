"""Finding what a user named in a file or a module, and reading that file in a measured process.

A script that calls `coldwarm.bench` is imported to be measured: there such calls measure nothing,
or it would start itself again and again. Those before the one that started the measurement hand
back something that a script can go on with; at that one the script has come as far as it had when
its author asked, and its import is over.
"""

import os
import sys

from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])


class TargetError(Exception):
    """Error: what was named is not there, or is not what it was taken for."""


class MissingNameError(TargetError):
    """The module has nothing under the name."""


def load(named: "Mapping[str, Any]") -> "ModuleType":
    """Import the module of ``named``: a dotted ``module``, or the file at ``path``.

    As for a program of the user's own, the folder of the file, or else the working
    directory, comes first on the search path; ``search`` are folders before it. A file with
    ``calls`` is read to that call of ``coldwarm.bench`` in it, where it has so many.
    """
    path = named["path"]
    place = os.path.dirname(path) if path else os.getcwd()
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
        _run_to(named["calls"], lambda: execute(module))
    else:
        execute(module)
    return module


def _package(folder: str) -> "tuple[str, str] | None":
    """Return the folder that a package lies in, and its name; ``None``: it is none."""
    names: list[str] = []
    while os.path.isfile(os.path.join(folder, "__init__.py")):
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


def refuse_method(found: "Any", name: str) -> None:
    """Refuse a method that has no object.

    Raises:
        TargetError: it is one.
    """
    owner, _, method = name.rpartition(".")
    if owner and CallSignatureReader(found).positions[:1] == ["self"]:
        text = (
            f"{name} is a method, and needs an object: write OBJECT = {owner}(…) into the file and"
            f" name OBJECT.{method}, or name a function that returns {name}, ({owner}(…),)"
        )
        raise TargetError(text)


def with_own(found: "Any") -> "tuple[Any, tuple[Any, ...], dict[str, Any]]":
    """Return a function, and what it is called with where nothing is given.

    That is the object of a method, and the defaults of a plain function that hold data. One that
    is compiled may take a default for a constant, and is called without.
    """
    owner, function = getattr(found, "__self__", None), getattr(found, "__func__", found)
    positional = () if function is found or isinstance(owner, type) else (owner,)
    function = function if positional else found
    if type(function) is not type(with_own) or hasattr(function, "__wrapped__"):
        return function, positional, {}
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    values = function.__defaults__ or ()
    known = dict(zip(names[len(names) - len(values) :], values, strict=True))
    known.update(function.__kwdefaults__ or {})
    by_place = code.co_varnames[: code.co_posonlyargcount]
    named = {k: v for k, v in known.items() if _is_data(v) and k not in by_place}
    return function, positional, named


def _is_data(value: "Any") -> bool:
    """Say whether a default may be other data: a number, an array, a container of such."""
    return type(value) in {int, float, complex, list, tuple, dict} or hasattr(value, "dtype")


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


class CallSignatureReader:
    """The parameters of a function, as far as it tells them."""

    def __init__(self, function: "Any") -> None:
        """Ask for them."""
        import inspect

        try:
            known = inspect.signature(function)
        except (TypeError, ValueError):
            known = None
        parameters = [] if known is None else list(known.parameters.values())
        many = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        self.bind: Callable[..., object] | None = None if known is None else known.bind
        """Raises a TypeError for a call that it does not allow; ``None``: it does not tell."""
        self.wanted = [p.name for p in parameters if p.default is p.empty and p.kind not in many]
        """The names of those that have no default."""
        self.keyword_only = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
        """The names of those that must be given by name."""
        by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self.positions = [p.name for p in parameters if p.kind in by_place]
        """The names of those that can be given by position, in order."""
        self.takes_more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        """Whether any further arguments can be given by position, as with ``*args``."""

    def allows(self, named: "Mapping[str, Any]") -> bool:
        """Return whether the function tells that it can be called with these, given by name."""
        if self.bind is None:
            return False
        try:
            self.bind(**named)
        except TypeError:
            return False
        return True


class _ReachedError(BaseException):
    """The script has come to the call that is measured; it needs to go no further."""


class _Nothing:
    """A result of nothing: whatever is asked of it is nothing again, and reads as such."""

    def __getattr__(self, name: str) -> "_Nothing":
        """Return nothing."""
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_arguments: "Any", **_named: "Any") -> "_Nothing":
        """Return nothing."""
        return self

    def __getitem__(self, _key: "Any") -> "_Nothing":
        """Return nothing."""
        return self

    def __iter__(self) -> "Any":
        """Hold nothing."""
        return iter(())

    def __float__(self) -> float:
        """Be no number."""
        return float("nan")

    def __bool__(self) -> bool:
        """Be false."""
        return False

    def __repr__(self) -> str:
        """Read as nothing."""
        return "nothing: this process is measured"

    def __format__(self, _how: str) -> str:
        """Take any format, such as that of a number."""
        return repr(self)

    def _with(self, _other: "Any") -> "_Nothing":
        return self

    def _than(self, _other: "Any") -> bool:
        return False

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _with
    __truediv__ = __rtruediv__ = _with
    __lt__ = __le__ = __gt__ = __ge__ = _than


_expected: "list[int]" = []
"""Calls that are still to come; the last of them ends the import. Empty: all are passed."""


def skip_bench(*_arguments: "Any", **_named: "Any") -> _Nothing:
    """Measure nothing; end the import where this is the call that it was for.

    Raises:
        ReachedError: it is.
    """
    if _expected:
        _expected[0] -= 1
        if _expected[0] == 0:
            raise _ReachedError
    return _Nothing()


def skip_benchmark(*_arguments: "Any", **_named: "Any") -> "Callable[..., _Nothing]":
    """Return what ``coldwarm.Benchmark`` does: here, what measures nothing."""
    return skip_bench


def _run_to(call: int, run: "Callable[[], object]") -> None:
    """Run a script to its ``call``-th call of ``coldwarm.bench``, or to its end."""
    _expected[:] = [call]
    try:
        run()
    except _ReachedError:
        pass
    finally:
        _expected.clear()


MARKED: "list[tuple[str, dict[str, Any]]]" = []
"""Name and options of each marked function, in the order of their definition."""


def workload(
    function: "F | None" = None,
    *,
    inputs: "dict[str, str] | None" = None,
    reference: bool = False,
    tolerance: "float | None" = None,
) -> "Any":
    """Mark a function as a candidate that ``coldwarm bench FILE`` measures.

    Args:
        function: The function, where the decorator is used without parentheses.
        inputs: Its inputs as ``--input`` has them: ``{"x": "f32[512,512]", "n": "3"}``.
        reference: Whether its answer is the one that the others are checked against; else
            the first marked function's is.
        tolerance: The largest error of a number of an answer, over its magnitude in the
            reference.

    Returns:
        The function, unchanged.
    """

    def mark(marked: "F") -> "F":
        name = getattr(marked, "__name__", None)
        if not isinstance(name, str):
            text = f"a {type(marked).__name__} without a name cannot be marked as a workload"
            raise TypeError(text)
        options = {"inputs": inputs or {}, "reference": reference, "tolerance": tolerance}
        MARKED.append((name, options))
        return marked

    return mark if function is None else mark(function)
