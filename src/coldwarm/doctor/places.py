"""Lines of the user's at which something is counted, and what a thread is at."""

import _thread
import sys

from coldwarm.doctor import sites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from coldwarm.doctor.journal import Journal
    from coldwarm.doctor.sites import Site


def is_partial(called: "Any") -> bool:
    """Say whether it is a ``functools.partial``: by name, as ``functools`` is not ours."""
    kind = type(called)
    return kind.__name__ == "partial" and kind.__module__ == "functools"


class Now(_thread._local):
    """What one thread is at."""

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


class Places:
    """Where things are counted: a place of the file of counts for each line and kind."""

    def __init__(self, journal: "Journal") -> None:
        """Write into ``journal`` which places there are."""
        self.journal = journal
        self._slots: dict[Any, tuple[int | None, CodeType | None]] = {}

    def at(
        self, kind: str, code: "CodeType", offset: int, called: "Any", depth: int = 3
    ) -> "int | None":
        """Return where calls at a place of code are counted; ``None``: nowhere.

        ``depth`` is how many frames above this one the caller's is.
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
