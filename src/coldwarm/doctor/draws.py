"""Random numbers of NumPy and of Python: drawn in a trace, they are the same in every call."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OWNERS = ("RandomState", "Generator", "Random", "SystemRandom")
_NO_DRAW = ("seed", "getstate", "setstate", "get_state", "set_state", "spawn")


def is_draw(called: "Any", first: "Any") -> bool:
    """Say whether a call draws a random number; ``first`` is what it is given first.

    A method that is called at once is told of as a function, with the object as the first argument.
    """
    name = getattr(called, "__name__", "_")
    if name.startswith("_") or name in _NO_DRAW:
        return False
    owner = getattr(called, "__self__", None)
    if owner is None:
        owner = first if hasattr(type(first), name) else None
    kind = type(owner)
    return kind.__name__ in _OWNERS and kind.__module__.startswith(("numpy.random", "random"))
