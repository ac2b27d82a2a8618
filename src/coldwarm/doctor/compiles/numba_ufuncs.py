"""What Numba compiles without an event of its own: ``vectorize``, ``guvectorize`` and ``cfunc``.

Only the steps of the compiler tell of them. The stack of the first step has what is asked for.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_NEAR = 40
"""Frames between a step of Numba's compiler and the function that has started it."""
_LAST = 10
"""Frames between the lock that Numba gives back and the function that has taken it."""
_STARTS = ("ufuncbuilder.py", "dispatcher.py")
"""Files of Numba in which that function is."""


def asked(frame: "FrameType | None") -> "tuple[Any, Any] | None":
    """Return what is compiled, and for which types; ``None``: it is part of something else."""
    for _ in range(_NEAR):
        if frame is None:
            return None
        code = frame.f_code
        if code.co_name == "_compile_core" and code.co_filename.endswith(_STARTS):
            held = frame.f_locals
            made, args = held.get("self"), held.get("args")
            return (made, args) if hasattr(made, "py_func") and args is not None else None
        frame = frame.f_back
    return None


def built(frame: "FrameType | None") -> "Any":
    """Return what ``guvectorize`` compiles for, where its last part was made: the loop around it.

    ``None``: it was something else. The lock is taken by a wrapper around that part.
    """
    for _ in range(_LAST):
        if frame is None:
            return None
        if frame.f_code.co_name == "_acquire_compile_lock":
            held = frame.f_locals
            if getattr(held.get("func"), "__name__", None) != "build_ufunc":
                return None
            return getattr(next(iter(held.get("args") or ()), None), "nb_func", None)
        frame = frame.f_back
    return None
