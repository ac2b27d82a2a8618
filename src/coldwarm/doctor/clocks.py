"""Clocks that the user's code reads, and whether the work was done by then."""

import _thread
import sys
import time

from coldwarm.doctor import sites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from coldwarm.doctor.places import Now, Places

_CLOCKS = (
    *("perf_counter", "perf_counter_ns", "time", "time_ns", "monotonic", "monotonic_ns"),
    *("process_time", "process_time_ns"),
)
_OF_DAY = ("datetime.now", "datetime.utcnow")
_MOST_SHARE = 0.01
"""Of the time so far that may go into looking for arrays that are not ready."""
_MOST_MOMENTS = 64
"""Readings of one place that are written."""
_now_ns = time.perf_counter_ns
_Builtin: "Any" = type(len)


def is_of_day(called: "Any") -> bool:
    """Say whether a call is of ``datetime.now``, which is another object each time."""
    if type(called) is not _Builtin or type(called.__self__) is not type:
        return False
    return called.__self__.__module__ == "datetime" and called.__qualname__ in _OF_DAY


class Clocks:
    """Writes when clocks are read, and how much was in flight then."""

    def __init__(self, places: "Places", now: "Now") -> None:
        """Count at ``places``; ``now`` is what this thread is at."""
        self._places, self._now = places, now
        self._began_ns = _now_ns()
        self._looked_ns = 0
        self._moments: dict[int, int] = {}
        self._pending: Callable[[], list[Any]] = list

    def wanted(self) -> "dict[Any, Callable[..., None]]":
        """Return the functions whose calls are to be told, and by whom they are taken."""
        return {getattr(time, name): self.read for name in _CLOCKS}

    def jax_is_here(self) -> None:
        """Look for JAX's arrays from now on. Before a clock is read: loading this takes time."""
        from coldwarm.frameworks.jax import in_flight

        self._pending = in_flight

    def read(self, code: "CodeType", offset: int, called: "Any", _first: "Any") -> None:
        """Take note of a clock that is read."""
        if sites.kind(code.co_filename) != sites.USERS:
            return  # a package measures for itself
        slot = self._places.at("clock", code, offset, called)
        if slot is None:
            return
        # While JAX starts its devices, asking for its arrays would wait for ever.
        looked = self._now.dispatched and not self._now.starting
        pending = self._in_flight() if looked else 0
        self._places.add(slot, 1, pending > 0)
        seen = self._moments.get(slot, 0)
        if seen < _MOST_MOMENTS:
            self._moments[slot] = seen + 1
            self._places.journal.write(
                "clock",
                slot=slot,
                thread=_thread.get_ident(),
                pending=pending,
                after=self._now.last if self._now.dispatched else None,
                caller=sites.stack(sys._getframe(2))[1:2],
            )
        self._now.dispatched = False

    def forget(self) -> None:
        """Begin anew: in a process that was forked."""
        self._moments.clear()

    def timed_by_timeit(self, frame: "FrameType | None") -> None:
        """Take note of a time that ``timeit`` has taken, which keeps no result to wait for."""
        if self._now.dispatched:
            slot = self._places.of_stack("timeit", sites.stack(frame), "timeit")
            self._places.add(slot, 1, 1)
            self._now.dispatched = False

    def _in_flight(self) -> int:
        """Return how many arrays are still being computed; 0 where looking costs too much."""
        begin_ns = _now_ns()
        if self._looked_ns > _MOST_SHARE * (begin_ns - self._began_ns) + 1e7:
            return 0
        found = len(self._pending())
        self._looked_ns += _now_ns() - begin_ns
        return found
