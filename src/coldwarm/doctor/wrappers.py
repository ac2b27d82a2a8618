"""Packages' own ``jit``: what the user's function is inside of it, and what it was given.

Such a package gives JAX a function of its own, with arguments taken apart. The object that the
user's code calls follows Python's convention for wrappers: ``__wrapped__`` is what was wrapped.
"""

import inspect

from coldwarm.doctor import sites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any


class Around:
    """A call of a wrapper."""

    __slots__ = ("args", "function", "kwargs")

    def __init__(self, function: "Any", args: "tuple[Any, ...]", kwargs: "dict[str, Any]") -> None:
        """Keep what is wrapped, and what it was given, for as long as JAX asks."""
        self.function, self.args, self.kwargs = function, args, kwargs


_MOST_FRAMES = 6
"""Of a package, from where it calls JAX outwards."""
_ALL = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def around(frame: "FrameType | None") -> "Around | None":
    """Return the call of a wrapper that led to a frame of JAX; ``None``: there is none.

    Frames of JAX are passed; one of the user's ends the search.
    """
    left = _MOST_FRAMES
    while frame is not None and left:
        whose = sites.kind(frame.f_code.co_filename)
        if whose == sites.USERS:
            return None
        if whose == sites.INSTALLED:
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
