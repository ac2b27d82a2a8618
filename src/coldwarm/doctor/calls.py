"""What the user's lines call: compiled functions, clocks, reads by the host, counted by place.

``sys.monitoring`` (Python 3.12 and later) tells of calls in the user's code and in installed
packages. At a place that calls nothing of interest it is told to be silent for good, so that a
line costs something once.
"""

import sys
import threading
import time

from coldwarm.doctor import sites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from coldwarm.doctor.jax_stages import JaxStages
    from coldwarm.doctor.journal import Journal

    Place = tuple[str, int, str]

_now_ns = time.perf_counter_ns
CLOCKS = ("perf_counter", "perf_counter_ns", "time", "time_ns", "monotonic", "monotonic_ns")
_WORTH_S = 0.001
"""Shorter times of JAX's own functions are not written."""
_MOST_SHARE = 0.01
"""Of the time so far that may go into looking for arrays that are not ready."""
_MOST_MOMENTS = 64
"""Of the clock reads of one place that are written."""
_NEW_ARRAYS = ("asarray", "array")
_GROWING = ("concatenate", "append", "vstack", "hstack", "stack")
_EFFECTS = (print, input, open)


class Calls:
    """Counts calls by place."""

    def __init__(self, journal: "Journal", stages: "Callable[[], JaxStages | None]") -> None:
        """Write into ``journal``; ``stages`` knows what is being traced."""
        self._journal = journal
        self._stages = stages
        self._slots: dict[Any, int | None] = {}
        self._threads = threading.local()
        self._wanted: dict[Any, Callable[..., None]] = {
            getattr(time, name): self._clock for name in CLOCKS
        }
        self._wanted |= dict.fromkeys(_EFFECTS, self._effect)
        self._jitted: type | None = None
        self._array: Any = None
        self._numpy: type | None = None
        self._reads: dict[CodeType, str] = {}
        self._began_ns = _now_ns()
        self._looked_ns = 0
        self._moments: dict[Any, int] = {}
        self._spans: dict[CodeType, str] = {}
        """Functions of JAX whose time is told, and as what."""

    def begin(self) -> bool:
        """Follow calls from now on; return whether this Python can."""
        monitoring: Any = getattr(sys, "monitoring", None)
        tool = _free_tool(monitoring)
        if tool is None:
            return False
        self._monitoring, self._tool = monitoring, tool
        events = monitoring.events
        monitoring.register_callback(tool, events.PY_START, self._start)
        monitoring.register_callback(tool, events.CALL, self._call)
        monitoring.register_callback(tool, events.C_RETURN, self._returned)
        monitoring.register_callback(tool, events.C_RAISE, self._returned)
        monitoring.register_callback(tool, events.PY_RETURN, self._ended)
        monitoring.set_events(tool, events.PY_START)
        return True

    def jax_is_here(self) -> None:
        """Follow what belongs to JAX too."""
        import inspect

        jax = sys.modules["jax"]
        self._jitted = type(jax.jit(lambda: None))
        self._array = sys.modules["jax._src.array"].ArrayImpl
        numpy, jnp = sys.modules["numpy"], jax.numpy
        self._numpy = numpy.ndarray
        for name in _NEW_ARRAYS:
            self._wanted[getattr(numpy, name)] = self._to_host
            self._wanted[getattr(jnp, name)] = self._to_device
        self._wanted[jax.device_put] = self._to_device
        for name in _GROWING:
            if hasattr(jnp, name):
                self._wanted[getattr(jnp, name)] = self._grown
        self._waits(jax)
        reads = {"_value": self._array._value.fget, "item": self._array.item}
        for name, read in reads.items():
            code = getattr(inspect.unwrap(read), "__code__", None)
            if code is not None:
                self._reads[code] = name
        bridge = sys.modules.get("jax._src.xla_bridge")
        opened = getattr(inspect.unwrap(getattr(bridge, "backends", _free_tool)), "__code__", None)
        if opened is not None:
            self._spans[opened] = "devices"
            self._monitoring.set_local_events(self._tool, opened, self._monitoring.events.PY_RETURN)
        self._monitoring.restart_events()

    def _waits(self, jax: "Any") -> None:
        """Time what waits for results."""
        self._wanted[jax.block_until_ready] = self._wait
        self._wanted[self._array.block_until_ready] = self._wait

    def _start(self, code: "CodeType", _offset: int) -> "Any":
        if code in self._reads:
            self._read()
            return None
        if code in self._spans:
            self._threads.began_ns = _now_ns()
            return None
        if sites.kind(code.co_filename) != sites.NOBODYS:
            self._monitoring.set_local_events(self._tool, code, self._monitoring.events.CALL)
        return self._monitoring.DISABLE

    def _ended(self, code: "CodeType", _offset: int, _returned: "Any") -> "Any":
        """Write how long a function of JAX took."""
        if code not in self._spans:
            return self._monitoring.DISABLE
        seconds = (_now_ns() - self._threads.began_ns) / 1e9
        if seconds >= _WORTH_S:
            self._journal.write(self._spans[code], seconds=seconds)
            self._threads.apart_ns = getattr(self._threads, "apart_ns", 0) + int(seconds * 1e9)
        return None

    def _returned(self, _code: "CodeType", _offset: int, called: "Any", _first: "Any") -> "Any":
        """Add up the time of a compiled function, without what was compiled meanwhile."""
        if type(called) is not self._jitted:
            return None
        begun = getattr(self._threads, "begun", None)
        if not begun:
            return None
        slot, begin_ns, apart_ns = begun.pop()
        if slot is not None:
            spent_ns = _now_ns() - begin_ns - (self._apart_ns() - apart_ns)
            self._journal.counts[slot + 1] += max(0, spent_ns)
        return None

    def _apart_ns(self) -> int:
        """Return what this thread has spent so far in stages and in starting devices."""
        stages = self._stages()
        staged_ns = stages.staged_ns() if stages is not None else 0
        return staged_ns + int(getattr(self._threads, "apart_ns", 0))

    def _call(self, code: "CodeType", offset: int, called: "Any", first: "Any") -> "Any":
        if type(called) is self._jitted:
            self._jitted_call(code, offset, called)
            return None
        try:
            wanted = self._wanted.get(called)
        except TypeError:  # it cannot be hashed
            wanted = None
        if wanted is None:
            return self._monitoring.DISABLE
        wanted(code, offset, called, first)
        return None

    def _jitted_call(self, code: "CodeType", offset: int, called: "Any") -> None:
        self._threads.dispatched = True
        slot = self._slot("jitted", code, offset, called)
        if slot is not None:
            self._journal.counts[slot] += 1
        stages = self._stages()
        if stages is not None and stages.is_tracing():
            slot = None  # its time is that of tracing
        begun = getattr(self._threads, "begun", None)
        if begun is None:
            begun = self._threads.begun = []
        begun.append((slot, _now_ns(), self._apart_ns()))

    def _wait(self, code: "CodeType", offset: int, called: "Any", first: "Any") -> None:
        """Time a wait for a result, by waiting first."""
        slot = self._slot("wait", code, offset, called)
        if slot is None:
            return
        begin_ns = _now_ns()
        sys.modules["jax"].block_until_ready(first)
        self._journal.counts[slot] += 1
        self._journal.counts[slot + 1] += _now_ns() - begin_ns

    def _clock(self, code: "CodeType", offset: int, called: "Any", _first: "Any") -> None:
        stages = self._stages()
        if stages is not None and stages.is_tracing():
            self._effect(code, offset, called, None)
            return
        slot = self._slot("clock", code, offset, called)
        if slot is None:
            return
        counts = self._journal.counts
        counts[slot] += 1
        moments = self._moments.get((code, offset), 0)
        pending = self._in_flight() if getattr(self._threads, "dispatched", False) else 0
        counts[slot + 1] += pending > 0
        if moments < _MOST_MOMENTS:
            self._moments[code, offset] = moments + 1
            self._journal.write("clock", slot=slot, thread=threading.get_ident(), pending=pending)
        self._threads.dispatched = False

    def _in_flight(self) -> int:
        """Return how many arrays are still being computed; 0 where looking costs too much."""
        begin_ns = _now_ns()
        if self._looked_ns > _MOST_SHARE * (begin_ns - self._began_ns) + 1e7:
            return 0
        from coldwarm.frameworks.jax import in_flight

        found = len(in_flight())
        self._looked_ns += _now_ns() - begin_ns
        return found

    def _effect(self, code: "CodeType", offset: int, called: "Any", _first: "Any") -> None:
        stages = self._stages()
        if stages is None or not stages.is_tracing():
            return
        slot = self._slot("effect", code, offset, called)
        if slot is not None:
            self._journal.counts[slot] += 1

    def _to_host(self, code: "CodeType", offset: int, called: "Any", first: "Any") -> None:
        if type(first) is self._array:
            self._count_read(self._slot("read", code, offset, called), first)

    def _to_device(self, code: "CodeType", offset: int, called: "Any", first: "Any") -> None:
        if type(first) not in (self._numpy, list):
            return
        slot = self._slot("transfer", code, offset, called)
        if slot is not None:
            self._journal.counts[slot] += 1
            self._journal.counts[slot + 1] += int(getattr(first, "nbytes", 0))

    def _grown(self, code: "CodeType", offset: int, called: "Any", _first: "Any") -> None:
        slot = self._slot("concatenation", code, offset, called)
        if slot is not None:
            self._journal.counts[slot] += 1

    def _read(self) -> None:
        """Count a read of an array's value, at the user's line."""
        frame = sys._getframe(2)
        array = frame.f_locals.get("self")
        if getattr(array, "_npy_value", None) is not None:
            return  # it was read before
        stack = sites.stack(frame.f_back)
        if stack:
            self._count_read(self._at("read", stack[0], "value"), array)

    def _count_read(self, slot: "int | None", array: "Any") -> None:
        if slot is None:
            return
        counts = self._journal.counts
        counts[slot] += 1
        if not array.is_ready():
            begin_ns = _now_ns()
            array.block_until_ready()  # the read would wait as long
            counts[slot + 1] += 1
            counts[slot + 2] += _now_ns() - begin_ns

    def _slot(self, kind: str, code: "CodeType", offset: int, called: "Any") -> "int | None":
        """Return where calls at a place are counted."""
        if sites.kind(code.co_filename) == sites.USERS:
            key = (kind, code, offset)
            if key not in self._slots:
                line = _line(code, offset)
                self._slots[key] = self._new(
                    kind, (code.co_filename, line, code.co_qualname), called
                )
            return self._slots[key]
        stack = sites.stack(sys._getframe(3))
        return self._at(kind, stack[0], called) if stack else None

    def _at(self, kind: str, place: "Place", called: "Any") -> "int | None":
        if (kind, place) not in self._slots:
            self._slots[kind, place] = self._new(kind, place, called)
        return self._slots[kind, place]

    def _new(self, kind: str, place: "Place", called: "Any") -> "int | None":
        slot = self._journal.slot()
        if slot is not None:
            name = called if isinstance(called, str) else getattr(called, "__name__", "?")
            self._journal.write("place", slot=slot, what=kind, stack=[place], name=str(name))
        return slot


def _free_tool(monitoring: "Any") -> "int | None":
    """Return a number that no other tool uses."""
    if monitoring is None:
        return None
    for number in (4, 3, 2, 1, 0, 5):
        if monitoring.get_tool(number) is None:
            monitoring.use_tool_id(number, "coldwarm")
            return number
    return None


def _line(code: "CodeType", offset: int) -> int:
    for begin, end, line in code.co_lines():
        if begin <= offset < end and line is not None:
            return line
    return code.co_firstlineno
