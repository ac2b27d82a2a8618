"""Traffic to devices and back: calls of compiled functions, operations, and values of the host.

Each is counted at the line of the user's that it is from.
"""

import _thread
import sys
import time
from _weakref import ref

from coldwarm.doctor.record import sites
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from coldwarm.doctor.record.jax_compiles import JaxStages
    from coldwarm.doctor.record.journal import Journal
    from coldwarm.doctor.record.sites import Site


def is_partial(called: "Any") -> bool:
    """Say whether it is a ``functools.partial``: by name, as ``functools`` is not ours."""
    kind = type(called)
    return kind.__name__ == "partial" and kind.__module__ == "functools"


class Now(_thread._local):
    """State of one thread."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.dispatched = False
        """Whether something was given to a device since the last clock or wait."""
        self.last: int | None = None
        """Where the call is counted that was dispatched last; ``None``: not by the user's code."""
        self.n_jitted = 0
        """Calls of compiled functions so far."""
        self.read_after: dict[int | None, int] = {}
        """By place of a read: how many such calls there were before the last one."""
        self.begun: list[tuple[int, int | None, int, int]] = []
        """Calls that have not returned: of what, where they count, since when, what was apart."""
        self.starting = False
        """Whether devices are being started."""
        self.reading = 0
        """The identity of the array whose read is counted already."""
        self.apart_ns = 0
        """Nanoseconds that belong to no call: devices that start."""
        self.since_ns = 0


class CallSiteCounts:
    """Where things are counted: a place of the file of counts for each line and kind."""

    def __init__(self, journal: "Journal") -> None:
        """Write into ``journal`` which places there are."""
        self.journal = journal
        self._slots: dict[Any, tuple[int | None, CodeType | None]] = {}

    def at(
        self, kind: str, code: "CodeType", offset: "Any", called: "Any", depth: int = 3
    ) -> "int | None":
        """Return where calls at a place of code are counted; ``None``: nowhere.

        ``offset`` tells the place from others of the code; ``depth`` is how many frames above
        this one the caller's is.
        """
        if sites.kind(code.co_filename) == sites.USERS:
            key = (kind, id(code), offset)
            known = self._slots.get(key)
            if known is None:
                slot = self._new(kind, sites.stack(sys._getframe(depth)), called)
                known = self._slots[key] = slot, code  # kept, so that no other has its identity
            return known[0]
        return self.of_stack(kind, sites.stack(sys._getframe(depth)), called)

    def of_stack(self, kind: str, stack: "list[Site]", called: "Any") -> "int | None":
        """Return where calls below a line are counted; ``None``: nowhere."""
        if not stack:
            return None
        known = self._slots.get((kind, stack[0]))
        if known is None:
            known = self._slots[kind, stack[0]] = self._new(kind, stack, called), None
        return known[0]

    def forget(self) -> None:
        """Begin anew: in a process that was forked, whose counts are its own."""
        self._slots.clear()

    def add(self, slot: "int | None", *numbers: int) -> None:
        """Add to the numbers of a place."""
        if slot is None:
            return
        counts = self.journal.counts
        for at, number in enumerate(numbers, slot):
            counts[at] += number

    def _new(self, kind: str, stack: "list[Site]", called: "Any") -> "int | None":
        slot = self.journal.slot() if stack else None
        bound: tuple[int | str, ...] = ()
        if is_partial(called):
            bound, called = (*range(len(called.args)), *called.keywords), called.func
        if slot is not None:
            name = called if isinstance(called, str) else getattr(called, "__name__", "?")
            self.journal.write(
                "place", slot=slot, what=kind, stack=stack, name=str(name), bound=bound
            )
        return slot


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
_MOST_OPERATIONS = 10_000
"""Operations that are counted and timed."""
_NO_OPERATIONS = ("asarray", "array", "ndim", "shape", "size", "result_type", "issubdtype", "dtype")


def slow_path() -> "set[CodeType]":
    """Return the code through which calls go that JAX's fast path does not take."""
    maker: Any = getattr(sys.modules.get("jax._src.pjit"), "_cpp_pjit", None)
    held = getattr(getattr(maker, "__code__", None), "co_consts", ())
    return {one for one in held if getattr(one, "co_name", "") == "cache_miss"}


def callbacks() -> "set[CodeType]":
    """Return the code by which compiled functions of JAX's call functions of the host's."""
    space = sys.modules.get("jax._src.callback")
    maker = getattr(space, "emit_python_callback", None)
    held = getattr(getattr(maker, "__code__", None), "co_consts", ())
    return {one for one in held if getattr(one, "co_name", "").startswith("_wrapped_callback")}


class Dispatches:
    """Counts and times what the user's lines give to devices."""

    def __init__(
        self, places: "CallSiteCounts", now: "Now", stages: "Callable[[], JaxStages | None]"
    ) -> None:
        """Count at ``places``; ``stages`` knows what is being traced."""
        self._places, self._now, self._stages = places, now, stages
        self.jitted: type | None = None
        self._operations: dict[int, Any] = {}
        self._codes: dict[int, CodeType] = {}
        """By the identity of an operation that is written in Python: its code."""
        self._growing: set[int] = set()
        self._n_operations = 0
        self.enough: Callable[[], None] | None = None
        """What is done when operations have been counted often enough; ``None``: it was done."""
        self._first = _thread.get_ident()
        self._calls_back: tuple[int | None] | None = None
        """Where calls by compiled functions are counted, from the first one on."""

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
        if type(called) is self.jitted:
            return True
        return self.enough is not None and id(called) in self._operations

    def call(
        self, code: "CodeType", offset: int, called: "Any", named: "Any", first: "Any"
    ) -> None:
        """Count a call that begins, and time it where it will be told that it ends.

        ``named`` is what the line calls: ``called``, or a ``functools.partial`` or method of it;
        ``first`` is its first argument.
        """
        tracing = self.is_tracing()
        slot = None
        if id(called) not in self._operations:
            slot = self._places.at("jitted", code, offset, named)
            self._now.n_jitted += not tracing
            stages = self._stages()
            if not tracing and stages is not None and stages.stale is not None:
                owner = getattr(named, "__self__", first)
                stages.stale.called(getattr(called, "__wrapped__", None), owner, slot)
        elif not tracing:
            kind = "concatenation" if id(called) in self._growing else "operation"
            slot = self._places.at(kind, code, offset, called)
            self._operation()
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

    def called_back(self) -> None:
        """Count a call of the host's by a compiled function: where the first thread is."""
        if self._calls_back is None:
            frame = sys._current_frames().get(self._first)
            self._calls_back = (self._places.of_stack("callback", sites.stack(frame), "callback"),)
        self._places.add(self._calls_back[0], 1)

    def operated(self, code: "CodeType") -> None:
        """Count an operator of arrays that begins, at the user's line."""
        if self.is_tracing():
            return
        self._now.dispatched, self._now.last = True, None
        frame = sys._getframe(3).f_back  # above this: the two that told it, the operator
        if frame is not None and sites.kind(frame.f_code.co_filename) != sites.NOBODYS:
            depth = 4  # from ``CallSiteCounts.at``: also this
            slot = self._places.at("operation", frame.f_code, frame.f_lineno, "operator", depth)
            self._places.add(slot, 1)
            self._begun(id(code), slot)
            self._operation()

    def _operation(self) -> None:
        """Count one more operation: to count very many would take longer than they do."""
        self._n_operations += 1
        if self._n_operations >= _MOST_OPERATIONS and self.enough is not None:
            enough, self.enough = self.enough, None
            self._places.journal.write("enough")
            enough()

    def leave_out(self, spent_ns: int) -> None:
        """Leave the time in which devices started out of the stages that are open."""
        stages = self._stages()
        if stages is not None:
            stages.leave_out(spent_ns)

    def _apart_ns(self) -> int:
        """Return what this thread has spent so far in stages and in starting devices."""
        stages = self._stages()
        return (stages.staged_ns() if stages is not None else 0) + self._now.apart_ns


_NEW_ARRAYS = ("asarray", "array")
_MOST_SENT = 256
_CALLBACKS = ("callback.py", "debugging.py")
"""Files of JAX's that call a function of the host's from inside a compiled one."""


class Transfers:
    """Counts reads by the host, waits, and arrays that are sent."""

    def __init__(self, places: "CallSiteCounts", now: "Now", tracing: "Callable[[], bool]") -> None:
        """Count at ``places``; ``now`` is what this thread is at, ``tracing`` whether it traces."""
        self._places, self._now, self._tracing = places, now, tracing
        self._array: Any = None
        self._numpy: Any = None
        self._sent: dict[int, dict[int, Any]] = {}
        """By place, the arrays of the host that were sent from it and are still there."""

    def wanted(self, jax: "Any") -> "dict[Any, Callable[..., None]]":
        """Return the functions whose calls are to be told, and by whom they are taken."""
        self._array = sys.modules["jax._src.array"].ArrayImpl
        numpy = sys.modules["numpy"]
        self._numpy = numpy.ndarray
        return {
            **{getattr(numpy, name): self._to_host for name in _NEW_ARRAYS},
            **{getattr(jax.numpy, name): self.to_device for name in _NEW_ARRAYS},
            jax.device_put: self.to_device,
            jax.block_until_ready: self._wait,
            self._array.block_until_ready: self._wait,
        }

    def reads(self) -> "set[CodeType]":
        """Return the code by which JAX gives the value of an array to the host."""
        found = (self._array._value.fget, self._array.item)
        return {sites.unwrapped(one).__code__ for one in found}

    def read(self) -> None:
        """Count a read of an array's value, at the user's line."""
        frame = sys._getframe(2)
        array = frame.f_locals.get("self")
        self._now.dispatched = False
        counted, self._now.reading = self._now.reading == id(array), 0
        if counted or getattr(array, "_npy_value", None) is not None:
            return  # it is counted already, or was read before
        if _is_called_back(frame):
            return
        slot = self._places.of_stack("read", sites.stack(frame.f_back), "value")
        self._count(slot, array)

    def to_device(self, code: "CodeType", offset: int, called: "Any", first: "Any") -> None:
        """Count an array of the host that is sent; its bytes where it was sent before."""
        if type(first) is not self._numpy or self._tracing():
            return  # while tracing it becomes part of the program
        slot = self._places.at("transfer", code, offset, called)
        if slot is None:
            return
        sent = self._sent.setdefault(slot, {})
        before = sent.get(id(first))
        again = before is not None and before() is first
        if not again:
            if len(sent) >= _MOST_SENT:
                sent.clear()
            sent[id(first)] = ref(first)
        self._places.add(slot, 1, int(first.nbytes) if again else 0, again)

    def forget(self) -> None:
        """Begin anew: in a process that was forked."""
        self._sent.clear()
        self._now.read_after.clear()

    def _to_host(self, code: "CodeType", offset: int, called: "Any", first: "Any") -> None:
        if type(first) is self._array:
            self._now.dispatched = False
            self._count(self._places.at("read", code, offset, called), first)
            self._now.reading = id(first)  # on a GPU the same read is told once more

    def _count(self, slot: "int | None", array: "Any") -> None:
        """Count a read: also whether it is the first here since a compiled function was called.

        The leaves of a tree are read one by one, and are waited for once.
        """
        now = self._now
        first = now.read_after.get(slot) != now.n_jitted
        if first:
            now.read_after[slot] = now.n_jitted
        if array.is_ready():
            self._places.add(slot, 1, 0, 0, first)
            return
        begin_ns = _now_ns()
        array.block_until_ready()  # the read would wait as long
        self._places.add(slot, 1, 1, _now_ns() - begin_ns, first)

    def _wait(self, code: "CodeType", offset: int, called: "Any", first: "Any") -> None:
        """Time a wait for a result, by waiting first."""
        slot = self._places.at("wait", code, offset, called)
        begin_ns = _now_ns()
        sys.modules["jax"].block_until_ready(first)
        in_vain = self._is_unknown(first)
        self._places.add(slot, 1, _now_ns() - begin_ns, in_vain)
        self._now.dispatched = self._now.dispatched and in_vain

    def _is_unknown(self, given: "Any") -> bool:
        """Say whether arrays are in an object of a class that JAX does not know as a tree."""
        held = getattr(given, "__dict__", None)
        if type(given) is self._array or not isinstance(held, dict):
            return False
        leaves = sys.modules["jax"].tree_util.tree_leaves(given)
        is_leaf = len(leaves) == 1 and leaves[0] is given
        return is_leaf and any(type(one) is self._array for one in held.values())


def _is_called_back(frame: "FrameType | None") -> bool:
    """Say whether JAX reads a value for a callback: the user's line does not wait for it."""
    while frame is not None:
        filename = frame.f_code.co_filename
        if sites.kind(filename) != sites.NOBODYS:
            return False
        if filename.endswith(_CALLBACKS):
            return True
        frame = frame.f_back
    return False
