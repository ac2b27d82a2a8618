"""Time of imports: those that the user's own code asks for, of everything that is not theirs.

Where all of a program is watched, no frame of this file is on its stack, and no tracer of its own
is told of one: imports are told by ``sys.monitoring``, and before Python 3.12 by audit events, both
of which Python keeps from tracers. A block of code that asks to be followed, and a start of which
only the time is looked at, have a function around each import instead: it costs less, and can be
taken off again.
"""

import _thread
import sys
import time

from coldwarm.doctor.record import sites
from coldwarm.doctor.record.journal import failed
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType
    from typing import Any

    from coldwarm.doctor.record.journal import Journal

    Done = tuple[str, float, float]


_WORTH_S = 0.001
"""Imports that take less are not written."""
_now_s = time.perf_counter
_FROZEN = "<frozen importlib._bootstrap>"
_bootstrap: "Any" = sys.modules["_frozen_importlib"]
_LOCK_GONE = "coldwarm.imported"
"""The audit event by which the end of an import is told."""


def import_late(name: str) -> None:
    """Let a module be imported when something of it is used first."""
    import importlib.util

    finds: list[bool] = []

    class Finder:
        def find_spec(self, wanted: str, _path: "Any" = None, _target: "Any" = None) -> "Any":
            if wanted != name or finds:
                return None
            finds.append(True)
            try:
                found = importlib.util.find_spec(name)
            finally:
                finds.clear()
            if found is not None and found.loader is not None:
                found.loader = importlib.util.LazyLoader(found.loader)
            return found

    sys.meta_path.insert(0, Finder())


class _Mine(_thread._local):
    """The imports that have begun in a thread, each with what ended inside of it."""

    def __init__(self) -> None:
        self.open: list[tuple[object, float, list[Done]]] = []


class _Outer(_thread._local):
    """The import that a thread has begun last."""

    name = ""
    is_closed = False
    """Whether what is imported inside adds nothing: it is no user's."""

    def close(self) -> bool:
        """Say whether it is closed, which is known once its module is there."""
        if not self.is_closed and self.name in sys.modules:
            whose = sites.kind(sites.origin(sys.modules.get(self.name)))
            self.is_closed = whose != sites.USERS
        return self.is_closed


class _Asked(_thread._local):
    """Request of an ``import`` in a thread, until it is known whether it is loaded."""

    def __init__(self) -> None:
        self.since: dict[str, float] = {}


class Imports:
    """Writes how long imports take, and tells when certain modules are there."""

    def __init__(self, journal: "Journal", told: "Mapping[str, Callable[[], None]]") -> None:
        """Write into ``journal``; ``told`` has by name what is called when a module was loaded."""
        self._journal, self._told = journal, dict(told)
        self._mine = _Mine()

    def begin(self, calls: "Any") -> bool:
        """Follow from now on, until the process ends; return whether this Python can.

        ``calls`` follows what code calls; ``None``: nobody does.
        """
        load = getattr(_bootstrap._find_and_load, "__code__", None)
        if load is None:
            return False
        if calls is not None:
            calls.follow(load, self._started, self._returned)
            return True
        return sys.version_info < (3, 12) and _ByAudit(self, load).begin()

    def is_open(self, key: object) -> bool:
        """Say whether an import has begun in this thread and not ended."""
        return any(one[0] == key for one in self._mine.open)

    def failed(self, error: Exception) -> None:
        """Write down what failed in here."""
        failed(self._journal, error)

    def begun(self, key: object, begin_s: float) -> None:
        """Note that an import begins."""
        self._mine.open.append((key, begin_s, []))

    def ended(self, key: object, name: str) -> None:
        """Note that it has ended, however it did."""
        opened = self._mine.open
        if not self.is_open(key):
            return
        while opened[-1][0] != key:  # imports that failed
            opened.pop()
        _, begin_s, inner = opened.pop()
        try:
            self._write(name, begin_s, inner)
        except Exception as error:
            failed(self._journal, error)
        if name in self._told and name in sys.modules:
            self._told.pop(name)()

    def _write(self, name: str, begin_s: float, inner: "list[Done]") -> None:
        end_s = _now_s()
        if end_s - begin_s < _WORTH_S and not inner:
            return
        users = sites.kind(sites.origin(sys.modules.get(name))) == sites.USERS
        found: list[Done] = inner if users else [(name, begin_s, end_s)]
        if self._mine.open:
            self._mine.open[-1][2].extend(found)
            return
        for one, from_s, to_s in found:
            if to_s - from_s >= _WORTH_S:
                self._journal.write(
                    "import",
                    name=one,
                    begin_s=from_s,
                    seconds=to_s - from_s,
                    thread=_thread.get_ident(),
                )

    def _started(self) -> None:
        """Note the import whose frame begins. Called by what Python tells of it."""
        frame: FrameType | None = sys._getframe(2)
        key = id(frame)
        if self._mine.open:  # of one that failed nothing is told
            above = set()
            while frame is not None and frame.f_back is not None:
                frame = frame.f_back
                above.add(id(frame))
            self._mine.open[:] = [one for one in self._mine.open if one[0] in above]
        self.begun(key, _now_s())

    def _returned(self) -> None:
        frame = sys._getframe(2)
        self.ended(id(frame), frame.f_locals["name"])


class _ByAudit:
    """Follows imports by audit events: of asking, of executing, and of the lock that is let go.

    Each module that is being imported has a lock, which is gone when that has ended.
    """

    def __init__(self, found: Imports, load: "Any") -> None:
        """Tell ``found``; ``load`` is the code of each import."""
        from _functools import partial  # type: ignore[import-not-found] # of every Python

        self._found, self._load = found, load
        self._asked = _Asked()
        self._kept: dict[int, tuple[Any, str]] = {}
        self._gone = partial(sys.audit, _LOCK_GONE)
        self._locks: Any = getattr(_bootstrap, "_module_locks", None)
        removed = getattr(_bootstrap, "_call_with_frames_removed", None)
        self._executes = getattr(removed, "__code__", None)

    def begin(self) -> bool:
        """Follow until the process ends; return whether this Python can."""
        if self._locks is None or self._executes is None:
            return False
        sys.addaudithook(self._hear)
        return True

    def _hear(self, event: str, args: "tuple[Any, ...]") -> None:
        try:
            if event == "import" and args[1] is None:
                self._note_asked()
                self._asked.since[args[0]] = _now_s()
            elif event == "exec":
                self._execute(sys._getframe().f_back)
            elif event == _LOCK_GONE and id(args[0]) in self._kept:
                _, name = self._kept.pop(id(args[0]))
                self._found.ended(name, name)
        except Exception as error:
            self._found.failed(error)

    def _execute(self, frame: "FrameType | None") -> None:
        if frame is None or frame.f_code is not self._executes:
            return
        while frame is not None and frame.f_code is not self._load:
            frame = frame.f_back
        self._note_asked()
        if frame is not None:  # one that no statement has asked for
            self._note(frame.f_locals["name"], _now_s())

    def _note_asked(self) -> None:
        for name, begin_s in self._asked.since.items():
            self._note(name, begin_s)
        self._asked.since.clear()

    def _note(self, name: str, begin_s: float) -> None:
        from _weakref import ref

        lock = self._locks[name]() if name in self._locks else None
        if lock is not None and not self._found.is_open(name):
            told = ref(lock, self._gone)
            self._kept[id(told)] = told, name
            self._found.begun(name, begin_s)


def follow(journal: "Journal") -> "Callable[[], None]":
    """Write how long imports take, from now on; return what ends it."""
    load, followed = _bootstrap._find_and_load, Imports(journal, {})
    active = [True]
    outer = _Outer()

    def _call_with_frames_removed(name: str, import_: "Any") -> "Any":
        if not active or outer.close():  # as for most
            return load(name, import_)
        before, key = outer.name, object()
        outer.name = name
        followed.begun(key, _now_s())
        try:
            return load(name, import_)
        finally:
            outer.name, outer.is_closed = before, False
            followed.ended(key, name)

    # Python leaves frames of this file out of the tracebacks of imports that fail.
    timed = _call_with_frames_removed
    timed.__code__ = timed.__code__.replace(co_filename=_FROZEN)
    _bootstrap._find_and_load = timed

    def end() -> None:
        active.clear()
        if _bootstrap._find_and_load is timed:  # otherwise others stand on it
            _bootstrap._find_and_load = load

    return end
