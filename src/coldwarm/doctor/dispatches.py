"""What is given to devices: calls of compiled functions, and operations one by one."""

import sys
import time

from coldwarm.doctor import sites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from coldwarm.doctor.compiles.jax_stages import JaxStages
    from coldwarm.doctor.places import Now, Places

_now_ns = time.perf_counter_ns
_OPERATORS = (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow", "matmul"),
    *("floordiv", "mod", "neg", "abs", "lt", "le", "gt", "ge", "eq", "ne", "getitem"),
)
_SPACES = ("numpy", "nn", "lax", "random", "numpy.linalg", "numpy.fft", "scipy.special")
"""Modules of JAX whose functions are operations, where they are called outside of ``jit``."""
_GROWING = ("concatenate", "append", "vstack", "hstack", "stack")
_MOST_OPEN = 100
"""Calls that have not returned; of some it is never told that they do."""
_NO_OPERATIONS = ("asarray", "array", "ndim", "shape", "size", "result_type", "issubdtype", "dtype")


def slow_path() -> "set[CodeType]":
    """Return the code through which calls go that JAX's fast path does not take."""
    maker: Any = getattr(sys.modules.get("jax._src.pjit"), "_cpp_pjit", None)
    held = getattr(getattr(maker, "__code__", None), "co_consts", ())
    return {one for one in held if getattr(one, "co_name", "") == "cache_miss"}


class Dispatches:
    """Counts and times what the user's lines give to devices."""

    def __init__(
        self, places: "Places", now: "Now", stages: "Callable[[], JaxStages | None]"
    ) -> None:
        """Count at ``places``; ``stages`` knows what is being traced."""
        self._places, self._now, self._stages = places, now, stages
        self.jitted: type | None = None
        self._operations: dict[int, Any] = {}
        self._codes: dict[int, CodeType] = {}
        """By the identity of an operation that is written in Python: its code."""
        self._growing: set[int] = set()

    def begin(self, jax: "Any") -> "set[CodeType]":
        """Get to know JAX; return the code of the operators of its arrays.

        When code of operators and of operations ends, that is to be told.
        """
        self.jitted = type(jax.jit(lambda: None))
        for name in _SPACES:
            space = sys.modules.get(f"jax.{name}")
            for key, one in list(vars(space).items()) if space is not None else ():
                if callable(one) and not isinstance(one, type) and key not in _NO_OPERATIONS:
                    self._operations[id(one)] = one
                    code = getattr(sites.unwrapped(one), "__code__", None)
                    if code is not None and type(one) is not self.jitted:
                        self._codes[id(one)] = code
        jnp = jax.numpy
        self._growing = {id(getattr(jnp, name)) for name in _GROWING if hasattr(jnp, name)}
        array = sys.modules["jax._src.array"].ArrayImpl
        methods = (getattr(array, f"__{name}__", None) for name in _OPERATORS)
        codes = {getattr(sites.unwrapped(one), "__code__", None) for one in methods if one}
        return {code for code in codes if code is not None}

    def ends(self) -> "set[CodeType]":
        """Return the code of operations that are written in Python: its end is to be told."""
        return set(self._codes.values())

    def is_tracing(self) -> bool:
        """Say whether this thread traces a function."""
        stages = self._stages()
        return stages is not None and stages.is_tracing()

    def takes(self, called: "Any") -> bool:
        """Say whether a call is one of these."""
        return type(called) is self.jitted or id(called) in self._operations

    def call(self, code: "CodeType", offset: int, called: "Any", named: "Any") -> None:
        """Count a call that begins, and time it where it will be told that it ends.

        ``named`` is what the line calls: ``called``, or a ``functools.partial`` of it.
        """
        tracing = self.is_tracing()
        slot = None
        if id(called) not in self._operations:
            slot = self._places.at("jitted", code, offset, named)
            self._now.n_jitted += not tracing
        elif not tracing:
            kind = "concatenation" if id(called) in self._growing else "operation"
            slot = self._places.at(kind, code, offset, called)
        self._places.add(slot, 1)
        if not tracing:
            self._now.dispatched = True
            self._now.last = slot if sites.kind(code.co_filename) == sites.USERS else None
        if type(called) is self.jitted:
            self._begun(id(called), None if tracing else slot)
        elif not tracing and id(called) in self._codes:
            self._begun(id(self._codes[id(called)]), slot)

    def _begun(self, what: int, slot: "int | None") -> None:
        self._now.begun.append((what, slot, _now_ns(), self._apart_ns()))
        del self._now.begun[:-_MOST_OPEN]

    def returned(self, ended: "Any") -> None:
        """Add up the time of a compiled function, or of an operation by its code.

        What was compiled meanwhile is left out.
        """
        begun = self._now.begun
        for at in range(len(begun) - 1, -1, -1):
            if begun[at][0] == id(ended):
                break
        else:
            return
        _, slot, begin_ns, apart_ns = begun[at]
        del begun[at:]
        spent_ns = _now_ns() - begin_ns - (self._apart_ns() - apart_ns)
        self._places.add(slot, 0, max(0, spent_ns))

    def missed(self) -> None:
        """Count a call that JAX's fast path does not take: it goes through Python.

        What JAX calls itself while it traces or lowers is not the user's call.
        """
        begun, stages = self._now.begun, self._stages()
        if begun and not (stages is not None and stages.is_open()):
            self._places.add(begun[-1][1], 0, 0, 1)

    def operated(self, code: "CodeType") -> None:
        """Count an operator of arrays that begins, at the user's line."""
        if self.is_tracing():
            return
        self._now.dispatched, self._now.last = True, None
        frame = sys._getframe(2).f_back
        if frame is not None and sites.kind(frame.f_code.co_filename) != sites.NOBODYS:
            depth = 4  # from ``Places.at``: this, the two that told it, the operator
            slot = self._places.at("operation", frame.f_code, frame.f_lineno, "operator", depth)
            self._places.add(slot, 1)
            self._begun(id(code), slot)

    def leave_out(self, spent_ns: int) -> None:
        """Leave the time in which devices started out of the stages that are open."""
        stages = self._stages()
        if stages is not None:
            stages.leave_out(spent_ns)

    def _apart_ns(self) -> int:
        """Return what this thread has spent so far in stages and in starting devices."""
        stages = self._stages()
        return (stages.staged_ns() if stages is not None else 0) + self._now.apart_ns
