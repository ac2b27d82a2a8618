"""Adds up what a framework's events tell about a call: exclusive time by part.

Every instant of the clock is charged to at most one open span, the innermost one of the
thread that makes the call; only while that thread has none open, to the innermost one of
the thread that has had a span open for longest (an autograd engine's own thread, say).
The charged intervals are therefore disjoint, and their sum cannot exceed the wall clock.
"""

import _thread
import time

from coldwarm.frameworks.base import PARTS
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class _Span:
    """One open span: its name, the part that it is charged to, its own time so far."""

    __slots__ = ("marked", "name", "own_ns", "part")

    def __init__(self, name: str, part: "str | None") -> None:
        """Open with nothing charged."""
        self.name = name
        self.part = part
        self.own_ns = 0
        self.marked = False
        """For the listener: something it must remember until the span closes."""


class SpanAccount:
    """Exclusive seconds by part and counts by name, from spans that open and close."""

    def __init__(self, clock_ns: "Callable[[], int]" = time.perf_counter_ns) -> None:
        """Start with nothing charged."""
        self.closed: dict[str, int] = {}
        """How many spans of each name have closed since the process began."""
        self._clock_ns = clock_ns
        self._lock = _thread.allocate_lock()
        self._charged_ns = dict.fromkeys(PARTS, 0)
        self._stacks: dict[int, list[_Span]] = {}
        self._caller = _thread.get_ident()
        self._current: _Span | None = None
        self._last_ns = 0

    def begin(self) -> None:
        """Set the seconds back to zero; the calling thread is the one that is followed."""
        with self._lock:
            self._charged_ns = dict.fromkeys(PARTS, 0)
            self._stacks.clear()
            self._caller = _thread.get_ident()
            self._current = None

    def seconds(self) -> "dict[str, float]":
        """Return the seconds that closed spans were charged since ``begin``."""
        with self._lock:
            return {part: ns / 1e9 for part, ns in self._charged_ns.items()}

    def innermost(self) -> "_Span | None":
        """Return the innermost open span of this thread."""
        stack = self._stacks.get(_thread.get_ident())
        return stack[-1] if stack else None

    def outermost(self) -> "_Span | None":
        """Return the outermost open span of this thread."""
        stack = self._stacks.get(_thread.get_ident())
        return stack[0] if stack else None

    def enclosing(self, name: str) -> "_Span | None":
        """Return this thread's innermost open span of that name."""
        for span in reversed(self._stacks.get(_thread.get_ident(), ())):
            if span.name == name:
                return span
        return None

    def open(self, name: str, part: "str | None") -> _Span:
        """Open a span in this thread; without a ``part`` it belongs to its parent's."""
        with self._lock:
            self._charge()
            stack = self._stacks.setdefault(_thread.get_ident(), [])
            inherited = stack[-1].part if stack and part is None else part
            span = _Span(name, inherited)
            stack.append(span)
            self._choose()
            return span

    def close(self, name: str, part: "str | None" = None) -> None:
        """Close this thread's innermost span of that name, and any left open inside it.

        A ``part`` given here, when more is known, is charged instead of the span's own.
        A name that is not open is ignored: it was opened before ``begin``.
        """
        with self._lock:
            self._charge()
            self.closed[name] = self.closed.get(name, 0) + 1
            thread = _thread.get_ident()
            stack = self._stacks.get(thread, [])
            if all(span.name != name for span in stack):
                return
            while stack:
                span = stack.pop()
                ends = span.name == name
                charged = part if ends and part is not None else span.part
                if charged is not None:
                    self._charged_ns[charged] += span.own_ns
                if ends:
                    break
            if not stack:
                del self._stacks[thread]
            self._choose()

    def move(self, ns: int, part: str) -> None:
        """Charge ``ns`` of the current span's own time to another part.

        For what happens too often for spans: its time is added up by the listener, and
        must have passed inside the current span.
        """
        with self._lock:
            self._charge()
            if self._current is not None:
                self._current.own_ns -= ns
                self._charged_ns[part] += ns

    def _charge(self) -> None:
        """Give the time since the last event to the span it belongs to."""
        now_ns = self._clock_ns()
        if self._current is not None:
            self._current.own_ns += now_ns - self._last_ns
        self._last_ns = now_ns

    def _choose(self) -> None:
        """Decide which span the time from now on belongs to."""
        stack = self._stacks.get(self._caller)
        if stack is None:
            stack = next(iter(self._stacks.values()), None)
        self._current = stack[-1] if stack else None
