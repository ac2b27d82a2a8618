"""Where in the user's own code something happens: a walk up the stack, past what is not theirs."""

import os
import sys

from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    Site = tuple[str, int, str]
    """A file, a line, and the name of the function."""


MOST = 5
"""Most of the user's frames that are kept of a stack."""
_INTERACTIVE = ("<ipython-input", "<stdin>", *(("<string>",) if "-c" in sys.orig_argv else ()))
"""Code without a file that is the user's; other texts are compiled by Python itself."""
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_FRAMEWORKS = ("jax", "jaxlib", "torch", "numba", "numpy")
_LIBRARY = (os.path.dirname(os.path.abspath(os.__file__)) + os.sep,)
_OURS = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 2)) + os.sep
_MOST_FRAMES = 6
"""Most frames of a package, from where it calls JAX outwards."""
_ALL = 0x04 | 0x08
"""Flags of code that takes any arguments, by place and by name; ``inspect`` would be loaded."""
_kinds: dict[str, int] = {}
_paths: dict[str, str] = {}
USERS, INSTALLED, NOBODYS = 0, 1, 2
"""Owners of a file: the user's, that of an installed package, or of Python, a framework and us."""
WHOSE = ("user", "package", "framework")
"""The same in words of the journal."""


class Around:
    """A call of a package's own ``jit``, which gives JAX a function of its own.

    It gives it arguments that it has taken apart. The object that the user's code calls follows
    Python's convention for wrappers: ``__wrapped__`` is what was wrapped.
    """

    __slots__ = ("args", "function", "kwargs")

    def __init__(self, function: "Any", args: "tuple[Any, ...]", kwargs: "dict[str, Any]") -> None:
        """Keep what is wrapped, and what it was given, for as long as JAX asks."""
        self.function, self.args, self.kwargs = function, args, kwargs


def unwrapped(function: "Any") -> "Any":
    """Return what was wrapped, by Python's convention; ``inspect`` would be loaded for it."""
    for _ in range(_MOST_FRAMES * _MOST_FRAMES):
        if not hasattr(function, "__wrapped__"):
            break
        function = function.__wrapped__
    return function


def kind(filename: str) -> int:
    """Return whose a file is."""
    found = _kinds.get(filename)
    if found is None:
        found = _kinds[filename] = _kind(filename)
    return found


def _kind(filename: str) -> int:
    if f"{os.sep}torchinductor_" in filename:
        return NOBODYS
    if filename.startswith("<"):
        return USERS if filename.startswith(_INTERACTIVE) else NOBODYS
    if filename.startswith((_OURS, *_framework_folders())):
        return NOBODYS
    if any(part in filename for part in _INSTALLED):
        return INSTALLED
    return NOBODYS if filename.startswith(_LIBRARY) else USERS


def _framework_folders() -> "tuple[str, ...]":
    """Return the folders of frameworks that are loaded, wherever they are installed."""
    files = (origin(sys.modules.get(name)) for name in _FRAMEWORKS)
    return tuple(os.path.dirname(file) + os.sep for file in files if os.sep in file)


def origin(module: "Any") -> str:
    """Return the file of a module; a lazy one is not asked, as that would load it."""
    try:
        return str(object.__getattribute__(module, "__spec__").origin)
    except Exception:
        return "<unknown>"


def is_users(code: "CodeType") -> bool:
    """Say whether code is the user's own."""
    return kind(code.co_filename) == USERS


def is_ours(code: "CodeType") -> bool:
    """Say whether code is of this package."""
    return code.co_filename.startswith(_OURS)


def stack(frame: "FrameType | None") -> "list[Site]":
    """Return the user's frames of a stack, the innermost first.

    The first one may be in an installed package: where no frame is the user's.
    """
    found: list[Site] = []
    other: Site | None = None
    while frame is not None and len(found) < MOST:
        code = frame.f_code
        whose = kind(code.co_filename)
        if whose == USERS:
            found.append(_site(frame))
        elif whose == INSTALLED and other is None:
            other = _site(frame)
        frame = frame.f_back
    return found or ([other] if other else [])


def _site(frame: "FrameType") -> "Site":
    code = frame.f_code
    return path_of(code.co_filename), frame.f_lineno or 0, code.co_qualname


def path_of(filename: str) -> str:
    """Return the whole path of a file; what is no file stays as it is."""
    found = _paths.get(filename)
    if found is None:
        whole = filename if filename.startswith("<") else os.path.abspath(filename)
        found = _paths[filename] = sys.intern(whole)
    return found


def around(frame: "FrameType | None") -> "Around | None":
    """Return the call of a wrapper that led to a frame of JAX; ``None``: there is none.

    Frames of JAX are passed; one of the user's ends the search.
    """
    left = _MOST_FRAMES
    while frame is not None and left:
        whose = kind(frame.f_code.co_filename)
        if whose == USERS:
            return None
        if whose == INSTALLED:
            left -= 1
            if frame.f_code.co_flags & _ALL == _ALL:
                found = _called(frame)
                if found is not None:
                    return found
        frame = frame.f_back
    return None


def _called(frame: "FrameType") -> "Around | None":
    """Return the call of a wrapper's ``__call__``, where a frame is that."""
    code = frame.f_code
    if code.co_argcount != 1:
        return None
    n_named = code.co_argcount + code.co_kwonlyargcount
    own, (every, named) = code.co_varnames[0], code.co_varnames[n_named : n_named + 2]
    held = frame.f_locals
    function = getattr(held.get(own), "__wrapped__", None)
    args, kwargs = held.get(every), held.get(named)
    if callable(function) and isinstance(args, tuple) and isinstance(kwargs, dict):
        return Around(function, args, kwargs)
    return None
