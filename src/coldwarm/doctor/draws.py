"""Random numbers of NumPy and of Python: drawn in a trace, they are the same in every call."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OWNERS = ("RandomState", "Generator", "Random", "SystemRandom")
_MODULES = ("numpy", "random")


class _Drawn:
    def method(self) -> None:
        """Be what has a kind."""


_Builtin, _Function, _Descriptor = type(len), type(lambda: None), type(str.join)
_Method = type(_Drawn().method)
"""Kinds of what is called, as ``types`` has them."""
_NO_DRAW = ("seed", "getstate", "setstate", "get_state", "set_state", "spawn")


def is_draw(called: "Any", first: "Any") -> bool:
    """Say whether a call draws a random number; ``first`` is what it is given first.

    A method that is called at once is told of as a function, with the object as the first argument.
    Objects of other kinds are asked nothing: that may run code of the user's.
    """
    kind = type(called)
    if kind is _Builtin or kind is _Method:
        owner = type(called.__self__)
    elif kind is _Function and called.__module__ != "random":
        return False  # it will call what draws itself
    elif kind in (_Function, _Descriptor) or kind.__name__.startswith("cython_"):
        owner = type(first)
    else:
        return False
    if owner.__name__ not in _OWNERS or owner.__module__.partition(".")[0] not in _MODULES:
        return False
    name = called.__name__
    return name[0] != "_" and name not in _NO_DRAW and hasattr(owner, name)
