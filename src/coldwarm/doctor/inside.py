"""Follows what happens in a process that asks for it itself: in tests, notebooks and code.

Those who ask are readers of one recorder: of the one that ``coldwarm doctor`` has started, or of
one in memory, which is there for as long as anybody asks.
"""

import sys
import threading
import time

from coldwarm.doctor import recorder as recorders
from coldwarm.doctor.journal import Journal, Reader
from coldwarm.doctor.recorder import Recorder, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_now_s = time.perf_counter
_FRAMEWORKS = ("jax", "torch", "numba")
_lock = threading.RLock()
_followed: "list[Reader]" = []


class Block(Reader):
    """A reader from ``begin`` to ``end``: of what happens inside of a block."""

    def __init__(self) -> None:
        """Start with nothing."""
        super().__init__()
        self._head: list[dict[str, Any]] = []
        self.counts: tuple[bytes, bytes] = b"", b""
        """Of the journal: when the block began, and when it ended."""
        self._spent_ns = 0

    def begin(self) -> None:
        """Follow compiling, calls and imports from now on."""
        with _lock:
            recorder = _recorder()
            recorder.follow_calls()
            recorder.follow_imports()
            recorder.renew()
            self.restart(recorder)
            recorder.journal.readers += (self,)

    def restart(self, recorder: Recorder) -> None:
        """Begin here: at first, and in a process that was forked inside of the block."""
        self.rows = []
        self.n_gone = 0
        self._head = [
            _row("process", **recorder.process()),
            _row("block", loaded=_loaded(), devices=_have_devices(), jit=not recorder.keys),
            *(_row("framework", **one) for one in recorder.frameworks()),
        ]
        self.counts = recorder.journal.counted(), b""
        self._spent_ns = recorder.spent_ns()

    def end(self, error: "BaseException | None" = None) -> None:
        """Follow no more; ``error`` is what has ended the block."""
        with _lock:
            (recorder,) = recorders.recording
            journal = recorder.journal
            journal.readers = tuple(one for one in journal.readers if one is not self)
            self.counts = self.counts[0], journal.counted()
            if error is not None:
                self.take(_row("error", **told(error)))
            if not recorder.is_told():
                self.take(_row("untold", framework="jax"))
            if self.n_gone:
                self.take(_row("cut"))
            self.take(_row("end", doctor_s=(recorder.spent_ns() - self._spent_ns) / 1e9))
            others = [row for row in self.rows if row["kind"] != "place"]
            self.rows = [*self._head, *journal.places, *others]
            if recorder.stays:
                return
            if not journal.readers:
                recorder.end()
            elif not any(isinstance(one, Block) for one in journal.readers):
                recorder.leave_calls()


def followed() -> Reader:
    """Return who is told what is compiled, from the first time that this is asked."""
    with _lock:
        if not _followed:
            reader = Reader()
            _recorder().journal.readers += (reader,)
            _followed.append(reader)
        return _followed[0]


def _recorder() -> Recorder:
    """Return what follows this process."""
    if not recorders.recording:
        Recorder(Journal()).begin()
    return recorders.recording[0]


def _row(kind: str, **fields: "Any") -> "dict[str, Any]":
    return {"kind": kind, "at_s": _now_s(), **fields}


def _loaded() -> "list[str]":
    """Return the frameworks that are loaded."""
    return [name for name in _FRAMEWORKS if name in sys.modules]


def _have_devices() -> bool:
    """Say whether JAX has started its devices."""
    return bool(getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None))
