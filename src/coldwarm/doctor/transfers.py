"""Values that go between the host and the devices: read, waited for, sent."""

import sys
import time
from _weakref import ref

from coldwarm.doctor import sites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from coldwarm.doctor.places import Now, Places

_now_ns = time.perf_counter_ns
_NEW_ARRAYS = ("asarray", "array")
_MOST_SENT = 256
_CALLBACKS = ("callback.py", "debugging.py")
"""Files of JAX's that call a function of the host's from inside a compiled one."""


class Transfers:
    """Counts reads by the host, waits, and arrays that are sent."""

    def __init__(self, places: "Places", now: "Now", tracing: "Callable[[], bool]") -> None:
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
        """Count an array of the host that is sent, and whether it was sent before."""
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
        self._places.add(slot, 1, int(first.nbytes), again)

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
        self._places.add(slot, 1, _now_ns() - begin_ns)
        self._now.dispatched = False


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
