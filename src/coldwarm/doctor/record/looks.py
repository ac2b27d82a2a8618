"""Where a thread is, looked at now and then: its line, and what runs below that.

A thread of the doctor's own looks at it some hundred times in a second at first, and less often
the longer the program runs, so that neither its time nor the journal grows with it. What passed
since the look before counts for the line that is seen. Code in C that holds Python's lock lets
nobody look before it returns: the look comes right then, at the line that called it.
"""

import _signal  # type: ignore[import-not-found] # of every Python
import _thread
import os
import sys
import time

from coldwarm.doctor.record import sites
from coldwarm.doctor.record.held_arrays import HeldArrays
from coldwarm.doctor.record.journal import failed
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from coldwarm.doctor.record.journal import Journal


_SHORTEST_S = 0.01
"""From one look to the next, at first."""
_SHARE = 0.0005
"""Of the time so far, from one look to the next, in longer programs."""
_SPREAD = 0.618
"""Looks come unevenly, so that what repeats is not always seen at the same place."""
_MOST_PLACES = 4000
_MOST_RUNS, _WRITTEN_EACH_S = 200, 1.0
_LONGEST_WAIT_S = 0.1
"""For the thread to end."""
_GONE_S = 0.0002
_WRAPPERS = (
    *("traceback_util.py", "contextlib.py", "functools.py", "_contextlib.py", "_jit_internal.py"),
    *("nn/modules/module.py", "optim/optimizer.py"),
)
"""Files whose functions call what was asked for."""
_PARAMETRIZED = "nn/utils/parametrize.py"
"""The file of PyTorch's that computes a weight each time that it is used."""
_now_s = time.perf_counter


class Looks:
    """Looks at one thread from a thread of its own."""

    def __init__(self, journal: "Journal") -> None:
        """Write into ``journal``."""
        self._journal = journal
        self._held = HeldArrays(journal)
        self._is_traced = False
        """Whether a debugger or a coverage tool looks at the program's variables, too."""
        self._thread = 0
        self._began_s = _now_s()
        self._places: dict[Any, int] = {}
        self._n_places = 0
        self._runs: list[list[float]] = []
        """Places and seconds, one after the other, that are not written yet."""
        self._from_s = 0.0
        self._locks: Any = None
        """What wakes the thread, and what tells that it has ended."""
        self._native = 0
        """The number of the thread for the kernel."""

    def begin(self) -> None:
        """Look at the thread that calls this, from now on."""
        self._thread = _thread.get_ident()
        self._is_traced = sys.gettrace() is not None
        self._began_s = _now_s()
        self.resume()

    def resume(self) -> None:
        """Go on."""
        wakes, ended = _thread.allocate_lock(), _thread.allocate_lock()
        wakes.acquire()
        ended.acquire()
        self._locks = wakes, ended
        _thread.start_new_thread(self._look_on, (wakes, ended))
        # It has begun before the program does, which may leave it no memory to begin with.
        ended.acquire(timeout=_LONGEST_WAIT_S)

    def end(self) -> None:
        """Look no more, and write what was seen."""
        if self._locks is None:
            return
        wakes, ended = self._locks
        self._locks = None
        wakes.release()
        ended.acquire(timeout=_LONGEST_WAIT_S)

    def stop(self) -> None:
        """End before the process is forked: Python warns where it has several threads.

        The thread has to be gone, for which it needs Python's lock once more.
        """
        self.end()
        ends_s = _now_s() + _LONGEST_WAIT_S
        while os.path.exists(f"/proc/self/task/{self._native}") and _now_s() < ends_s:
            time.sleep(_GONE_S)

    def renew(self) -> None:
        """Write again which places there are: for a reader who came later."""
        self._places.clear()

    def _look_on(self, wakes: "Any", ended: "Any") -> None:
        try:
            self._native = _thread.get_native_id()
            ended.release()
            # A signal is to interrupt what the program waits for, not this thread.
            _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
            last_s = self._from_s = _now_s()
            spread = 0.5
            while not wakes.acquire(timeout=self._pause_s(last_s, spread)):
                now_s = _now_s()
                self._look(now_s - last_s)
                last_s = now_s
                spread = (spread + _SPREAD) % 1.0
                if len(self._runs) >= _MOST_RUNS or now_s - self._from_s > _WRITTEN_EACH_S:
                    self._write(now_s)
            self._write(last_s)
        except Exception as error:
            try:
                failed(self._journal, error)
            except MemoryError:  # the program's, which is to see nothing of this
                pass
        finally:
            ended.release()

    def _pause_s(self, now_s: float, spread: float) -> float:
        return max(_SHORTEST_S, _SHARE * (now_s - self._began_s)) * (0.5 + spread)

    def _look(self, passed_s: float) -> None:
        """Count what has passed for where the thread is."""
        frame = sys._current_frames().get(self._thread)
        if not self._is_traced:
            self._held.look(frame)
        stack, below = sites.stack(frame), _below(frame)
        anomalies = _looks_for_anomalies()
        key = tuple(stack), below, anomalies
        number = self._places.get(key)
        if number is None:
            number = 0
            if stack and len(self._places) < _MOST_PLACES:
                number = self._n_places = self._n_places + 1
            self._places[key] = number
            if number:
                told = {"stack": stack, "below": below, "anomalies": anomalies}
                self._journal.write("spot", number=number, **told)
        if self._runs and self._runs[-1][0] == number:
            self._runs[-1][1] += passed_s
        else:
            self._runs.append([number, passed_s])

    def _write(self, now_s: float) -> None:
        runs, self._runs = self._runs, []
        begin_s, self._from_s = self._from_s, now_s
        if runs:
            told = [[int(number), round(seconds, 6)] for number, seconds in runs]
            self._journal.write("looks", begin_s=begin_s, runs=told)


def _looks_for_anomalies() -> bool:
    """Say whether PyTorch looks for NaN in gradients now."""
    torch = sys.modules.get("torch")
    asked = getattr(torch, "is_anomaly_enabled", None) if "torch._C" in sys.modules else None
    return asked is not None and asked() is True


def _below(frame: "FrameType | None") -> str:
    """Return what a line of the user's has called that is written in Python; empty: nothing.

    Where no frame is the user's, that is what lies below the outermost of a package.
    """
    called: list[CodeType] = []
    while frame is not None:
        code = frame.f_code
        if sites.kind(code.co_filename) == sites.USERS:
            break
        if not sites.is_ours(code):
            called.append(code)
        frame = frame.f_back
    if any(code.co_filename.endswith(_PARAMETRIZED) for code in called):
        return "torch.parametrize"
    for code in reversed(called):
        if not code.co_filename.endswith(_WRAPPERS):
            return _name(code)
    return _name(called[-1]) if called else ""


def _name(code: "CodeType") -> str:
    """Return a name such as ``jax.grad``: the package, and the function in it."""
    function = code.co_qualname.partition(".<locals>")[0]
    path = code.co_filename.replace("\\", "/")
    for folder in ("site-packages/", "dist-packages/"):
        _, found, inside = path.rpartition(folder)
        if found:
            return f"{inside.partition('/')[0].removesuffix('.py')}.{function}"
    return f"{os.path.basename(path).removesuffix('.py')}.{function}"
