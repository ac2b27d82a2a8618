"""Which stage of JAX is open in a thread, and which call it is for, by the stack of the moment."""

import _thread
import sys
from functools import cache

from coldwarm.doctor import sites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

UNTOLD = "coldwarm/trace"
"""No event of JAX's: it tells of none where a function is traced below ``grad`` or ``vmap``."""
STAGES = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
    UNTOLD: "trace",
}
_TRACERS = ("trace_to_jaxpr_nocache", "trace_to_jaxpr", "trace_to_jaxpr_dynamic")
"""Functions of JAX in which a function is traced, by version."""
NOBODYS = -1
"""The number of a call that is not known to compile anything."""
_NEAR = 6
"""Frames above a listener in which JAX holds what it lowers."""


class Open:
    """A stage that has begun and not ended."""

    __slots__ = ("begin_ns", "event", "frame", "inner_ns", "stage")

    def __init__(self, event: str, begin_ns: int, frame: int = 0) -> None:
        """Of an event of ``STAGES``.

        ``frame`` is the identity of the frame that traces, unless JAX tells of the end.
        """
        self.event = event
        self.frame = frame
        self.stage = STAGES[event]
        self.inner_ns = 0
        self.begin_ns = begin_ns


class Counted:
    """The calls at one line for one function."""

    __slots__ = ("before", "n", "slot")

    def __init__(self, slot: "int | None") -> None:
        """Count in the numbers of the journal from ``slot`` on; ``None``: there is no room."""
        self.slot = slot
        self.n = 0
        self.before = 0
        """As many as there were when the last reader came."""

    def is_written(self, most: int) -> bool:
        """Say whether the next one of them is written, where so many are for one reader."""
        return self.n - self.before <= most


class Call:
    """A call for which something is traced, lowered or compiled."""

    __slots__ = (
        "counted",
        "fingerprint",
        "hit",
        "jitted",
        "lowered",
        "miss",
        "number",
        "order",
        "own_ns",
        "program",
        "where",
    )

    def __init__(self, number: int, miss: int, counted: "Counted", where: "Any") -> None:
        """Of the frame with the id ``miss``, at the user's line ``where``."""
        self.number, self.miss, self.counted, self.where = number, miss, counted, where
        self.order = -1
        self.jitted = False
        self.own_ns: dict[str, int] = {}
        self.hit = False
        self.lowered: Any = None
        self.program: Any = None
        self.fingerprint: str | None = None


class Thread(_thread._local):
    """What is open in one thread."""

    def __init__(self) -> None:
        """With nothing open."""
        self.open: list[Open] = []
        self.call: Call | None = None
        self.staged_ns = 0
        self.before: Call | None = None
        """The call before what JAX tells nothing of was traced."""
        self.traced: dict[int, list[tuple[int, int, dict[str, int]]]] = {}
        """By the frame of a call that nothing is told of yet: what was traced in it, from when to
        when, with the nanoseconds of its parts."""

    def drop_broken(self, frame: "FrameType | None") -> None:
        """Forget what is open where the frame that traced has gone: an error ended it.

        JAX would have told of the end of its own events, and of this nobody tells.
        """
        if not self.open or not self.open[0].frame:
            return
        while frame is not None:
            if id(frame) == self.open[0].frame and frame.f_code in tracers():
                return
            frame = frame.f_back
        self.open.clear()
        self.call = self.before


@cache
def tracers() -> "frozenset[CodeType]":
    """Return the code of JAX in which a function is traced. JAX is loaded."""
    space = sys.modules["jax._src.interpreters.partial_eval"]
    found = (sites.unwrapped(getattr(space, name)) for name in _TRACERS if hasattr(space, name))
    codes = (getattr(one, "__code__", None) for one in found)
    return frozenset(code for code in codes if code is not None)


def goes_on(known: Call, miss: "FrameType | None", frame: "FrameType | None") -> bool:
    """Say whether a stage belongs to the call of the stage before.

    What is lowered or compiled by itself, without a call, does so where one line asks for both.
    """
    if known.miss != id(miss):
        return False
    return miss is not None or known.where == next(iter(sites.stack(frame)), None)


def missed(frame: "FrameType | None") -> "FrameType | None":
    """Return the frame in which JAX holds the call that it has no program for."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "cache_miss" and code.co_filename.endswith("pjit.py"):
            return frame
        if sites.is_users(code):
            return None
        frame = frame.f_back
    return None


def lowering(frame: "FrameType | None") -> "Any":
    """Return what is about to be lowered, and which of its inputs are given away."""
    for _ in range(_NEAR):
        if frame is None:
            return None
        if "closed_jaxpr" in frame.f_code.co_varnames:
            held = frame.f_locals
            return held.get("closed_jaxpr"), held.get("donated_invars") or ()
        frame = frame.f_back
    return None
