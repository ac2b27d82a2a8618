"""Whether a call has done all its work when it returns, looked at outside the timed window.

Nothing here waits for the work, or does it: what is not done is refused.
"""

import os
import sys
import time

from coldwarm.frameworks.base import module_of
from coldwarm.functions import opened, running
from coldwarm.functions.opened import UnfinishedError
from coldwarm.wire import because

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_now_s, _sleep = time.perf_counter, time.sleep  # as they were before the user's program
_STEP_S, _IDLE_STEPS = 0.005, 2
_LONGEST_S = 0.6
_SHOWN = 3
_IDLE_SHARE = 0.3
_SPINNING_S = 0.3
"""How long the threads of OpenMP and of BLAS may go on for nothing: up to 0.2 s by default."""
_POOL_S = 0.002
"""What the threads of XLA may use, which do not."""


class Pending:
    """Looks for what calls leave undone, from before the first of them."""

    def __init__(self) -> None:
        """Remember what is at work already."""
        self._before = running.Running()
        jax = "jax" in sys.modules
        self._alarm_s = _alarm_s()
        self._exits: list[str] | None = None
        self._arrays: list[Any] = module_of("jax").in_flight() if jax else []

    def wait(self) -> None:
        """Wait for the arrays that were being computed already, and forget them."""
        if self._arrays:
            module_of("jax").wait(self._arrays)
        self._arrays = []

    def refuse(self) -> None:
        """Refuse a call that has left work undone.

        Raises:
            UnfinishedError: arrays are being computed, a GPU is at work, or a thread, a process
                or a task that the call has started.
        """
        if "jax" in sys.modules:
            left = module_of("jax").unfinished(self._arrays)
            if left:
                raise UnfinishedError(because("arrays_unfinished", n_arrays=left))
        for framework in ("torch", "cupy", "numba"):
            if framework in sys.modules and module_of(framework).unfinished():
                raise UnfinishedError(because("gpu_unfinished", framework=framework))
        threads, processes, tasks = self._before.since()
        if threads:
            names: dict[str, Any] = {"n_threads": len(threads), "thread_names": threads[:_SHOWN]}
            raise UnfinishedError(because("threads_at_work", **names))
        if processes:
            found: dict[str, Any] = {"process_names": processes[:_SHOWN]}
            found["n_processes"] = len(processes)
            raise UnfinishedError(because("processes_at_work", **found))
        if tasks:
            raise UnfinishedError(because("tasks_unfinished", n_tasks=tasks))
        self._refuse_later()

    def _refuse_later(self) -> None:
        if _alarm_s() and not self._alarm_s:
            raise UnfinishedError(because("signal_pending"))
        # A first call may load a framework, which cleans up at the end.
        exits = running.left_until_exit()
        if self._exits is not None and len(exits) > len(self._exits):
            new = [*exits]
            for known in self._exits:  # a call may register the same once more
                if known in new:
                    new.remove(known)
            names: dict[str, Any] = {"n_functions": len(new), "function_names": new[:_SHOWN]}
            raise UnfinishedError(because("functions_at_exit", **names))
        self._exits = exits


def _spins() -> bool:
    """Say whether the user lets the threads of OpenMP spin for longer than they do by default."""
    active = os.environ.get("OMP_WAIT_POLICY", "").lower() == "active"
    return active or bool({"KMP_BLOCKTIME", "GOMP_SPINCOUNT"} & os.environ.keys())


def _alarm_s() -> float:
    """Return the seconds until an alarm of this process; 0: there is none."""
    signal = sys.modules.get("_signal")
    return 0.0 if signal is None else float(signal.getitimer(signal.ITIMER_REAL)[0])


def refuse_busy(call_s: float) -> None:
    """Refuse a call of so many seconds after which this process goes on computing.

    For work that no Python object stands for: a dropped array, a thread of a compiled library.
    It watches until the process is idle, for at most 0.6 s.

    Raises:
        UnfinishedError: it does.
    """
    began_s, before = _now_s(), running.threads_used_ns()
    last, n_idle = before, 0
    for _ in range(int(_LONGEST_S / _STEP_S)):
        if n_idle == _IDLE_STEPS or _now_s() >= began_s + _LONGEST_S:
            break
        _sleep(_STEP_S)
        now = running.threads_used_ns()
        used_ns = sum(now.values()) - sum(last.values())
        # On a busy machine what is at work may have to wait for a processor.
        idle = used_ns < _IDLE_SHARE * _STEP_S * 1e9 and not running.is_runnable()
        n_idle, last = n_idle + 1 if idle else 0, now
    used = {one: (ns - before.get(one, 0)) / 1e9 for one, ns in last.items()}
    of_xla_s = sum(seconds for one, seconds in used.items() if b" tf_" in one)
    watched_s, used_s = _now_s() - began_s, sum(used.values())
    # Every thread of a pool may spin, however many there are.
    longest_s = 0.0 if _spins() else max(used.values(), default=0.0)
    if of_xla_s > max(_POOL_S, 0.1 * call_s) or longest_s > max(_SPINNING_S, 0.2 * call_s):
        raise UnfinishedError(because("busy_afterwards", used_s=used_s, watched_s=watched_s))


def refuse_result(
    value: "Any", *, named: bool, call_s: "float | None" = None
) -> "dict[str, Any] | None":
    """Refuse a result that is not there; return why it is not known whether another one is.

    ``named``: the user has named what waits for it, and answers for that. ``call_s``: what the
    call took; the objects in the result may then be asked for their numbers.

    Raises:
        UnfinishedError: it is computed later.
    """
    return None if named else opened.refuse_unknown(value, call_s=call_s)
