"""Whether a call has done all its work when it returns, looked at outside the timed window.

Nothing here waits for the work, or does it: what is not done is refused. A result is looked into
without asking it for anything: no method of an unknown value is called, no property read, nothing
converted. That might do the very work which the timed call left undone. Objects are opened by their
`__dict__` and their slots; what a class of another language keeps cannot be seen.
"""

import os
import sys
import time

from coldwarm.frameworks.base import module_of
from coldwarm.functions import background, kinds
from coldwarm.functions.kinds import Shape
from coldwarm.wire import TYPE_CHECKING, because

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


_ITEM, _ATTRIBUTE, _IN_FUNCTION = range(3)
"""Where a thing is: in containers alone, in an object, in what a function has with it."""
_SUBCLASSED = ("numpy", "torch")
"""Frameworks from whose arrays others derive classes."""
_MOST_ASKED = 100
_ASKED_S, _ASKED_SHARE = 5e-4, 0.2
"""Processor time to give a number, and as a share of the call, that is no mere reading of it."""
_ASLEEP_S = 5e-3
"""Time that it sleeps, or waits for others, from which on that is no disturbance."""
# As they were before the user's program.
_used_s, _own_s, _now_s = time.process_time, time.thread_time, time.perf_counter
_sleep = time.sleep


class UnfinishedError(TypeError):
    """A result that is not there, or of which nobody can tell; ``coded_reason`` says why."""

    def __init__(self, reason: "dict[str, Any]") -> None:
        """Keep the reason, as it goes over the pipe."""
        super().__init__(reason["code"])
        self.coded_reason = reason


class OpenedValue:
    """All that is inside a value: the first thing in it that may not be computed."""

    def __init__(self, value: "Any") -> None:
        """Look into the value; into each object once."""
        self.lazy: str | None = None
        """The class of the first thing that computes only when it is asked."""
        self.opaque: str | None = None
        """The class of the first thing that cannot be looked into."""
        self.elsewhere: str | None = None
        """The class of the first array on a device of which nobody here knows how to wait."""
        self.unsure: list[tuple[Any, str]] = []
        """Objects of other people's classes, each with the method in which it may compute."""
        self._values = self._functions = 0
        self._shapes: dict[type, Shape] = {}
        self._seen: dict[int, Any] = {}  # kept, so that nothing else gets its number
        self._left: list[tuple[Any, int]] = [(value, _ITEM)]
        while self._left:
            self._look(*self._left.pop())
        if self._functions and not self._values and self.lazy is None:
            self.lazy = "function"

    def _look(self, value: "Any", place: int) -> None:
        kind = type(value)
        shape = self._shapes.get(kind)
        if shape is None:
            shape = self._shapes[kind] = Shape(kind)
        if shape.is_plain:
            self._values += value is not None and place != _IN_FUNCTION
            return
        if shape.is_skipped or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if shape.container is not None:
            self._add(kinds.items(value, shape), place)
        elif shape.framework is not None:
            self._array(value, shape, place)
        elif shape.is_function:
            self._functions += place == _ITEM
            self._add(kinds.captured(value, shape), _IN_FUNCTION)
            if shape.is_tree:
                self._add([*value.args, *value.keywords.values()], place)
        else:
            self._object(value, shape, place)
        if shape.has_attributes:
            held_by = _IN_FUNCTION if kind is kinds.FUNCTION else _ATTRIBUTE
            self._add(kinds.attribute_values(value, shape), max(place, held_by))

    def _add(self, values: "Iterable[Any]", place: int) -> None:
        self._left += [(item, place) for item in values]

    def _array(self, value: "Any", shape: Shape, place: int) -> None:
        framework = str(shape.framework)
        self._values += place != _IN_FUNCTION
        if framework in _SUBCLASSED:
            self._doubt(value, shape)
        if kinds.is_mapped(value):
            self.lazy = self.lazy or type(value).__name__
        if framework == "numpy" and value.dtype.hasobject:
            self._add(value.ravel().tolist(), place)
        if kinds.is_elsewhere(value, framework):
            self.elsewhere = f"{type(value).__name__} on {value.device.type}"

    def _object(self, value: "Any", shape: Shape, place: int) -> None:
        called = shape.is_callable
        self._functions += called and place == _ITEM
        self._values += not called and place != _IN_FUNCTION
        inner = place != _ITEM
        self._doubt(value, shape)
        if shape.is_lazy(inner=inner):
            self.lazy = self.lazy or type(value).__name__
        elif shape.is_opaque():
            self.opaque = self.opaque or type(value).__name__
        self._add(kinds.inner_objects(value, shape), max(place, _ATTRIBUTE))

    def _doubt(self, value: "Any", shape: Shape) -> None:
        name = shape.computing(value)
        if name is not None and len(self.unsure) <= _MOST_ASKED:
            self.unsure.append((value, name))


def refuse_unknown(value: "Any", *, call_s: "float | None" = None) -> "dict[str, Any] | None":
    """Refuse what is computed only later; return the reason to doubt of what may be.

    A class of somebody else's is not judged by what its methods are called: where ``call_s``, the
    seconds of the call, is given, its objects are asked for the numbers that others would ask
    them for, and those that begin to compute then are refused. Of what nobody can ask, or look
    into, it is not known.

    Raises:
        UnfinishedError: it holds a generator, a coroutine, a future and the like, an object of a
            library that computes later, or one that does when it is asked.
    """
    opened = OpenedValue(value)
    if opened.lazy is not None:
        if type(value).__name__ == "coroutine":
            value.close()  # one that is never awaited complains
        raise UnfinishedError(because("lazy_result", kind=opened.lazy.replace("_", " ")))
    if opened.elsewhere is not None:
        raise UnfinishedError(because("opaque_result", kind=opened.elsewhere))
    for number, (one, name) in enumerate(opened.unsure):
        names = {"kind": type(one).__name__, "attribute": name}
        asked = call_s is not None and number < _MOST_ASKED
        asked_s = _asked_s(one, name) if asked else None
        if asked_s is None or call_s is None:
            return because("may_compute", **names)
        if asked_s > max(_ASKED_S, _ASKED_SHARE * call_s):
            reason = because("computes_when_asked", **names, asked_s=asked_s, call_s=call_s)
            raise UnfinishedError(reason)
    return None if opened.opaque is None else because("not_opened", kind=opened.opaque)


def _asked_s(value: "Any", name: str) -> "float | None":
    """Return the time that an object takes to give its numbers; ``None``: unknown.

    What it waited for a processor does not count: that is of the machine. Where another thread is
    at work already, such as a heartbeat, its time is not the object's: only the time of this
    thread is, and for whom it waited is not known.
    """
    if not kinds.is_converted(name):
        return None
    numpy = sys.modules.get("numpy")
    disturbed = background.is_runnable()
    used = _own_s if disturbed else _used_s
    try:
        n_waits = background.n_waits()
        began_s, used_s, queued_s = _now_s(), used(), background.queued_s()
        if name in {"__float__", "__complex__"}:
            float(value) if name == "__float__" else complex(value)
        elif numpy is None:
            return None
        elif name == "__array__" and isinstance(value, numpy.ndarray):
            value.__array__()  # which NumPy leaves out where it has an array already
        else:
            numpy.asarray(value)
        used_s = used() - used_s
        awake_s = used_s + background.queued_s() - queued_s
        asleep_s = _now_s() - began_s - awake_s
        if asleep_s <= _ASLEEP_S or background.n_waits() == n_waits:  # a host takes time, too
            return used_s
        return None if disturbed else used_s + asleep_s
    except Exception:  # noqa: BLE001 - whatever somebody else's class raises
        return None


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
        self._before = background.BackgroundWork()
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
        exits = background.left_until_exit()
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
    began_s, before = _now_s(), background.threads_used_ns()
    last, n_idle = before, 0
    for _ in range(int(_LONGEST_S / _STEP_S)):
        if n_idle == _IDLE_STEPS or _now_s() >= began_s + _LONGEST_S:
            break
        _sleep(_STEP_S)
        now = background.threads_used_ns()
        used_ns = sum(now.values()) - sum(last.values())
        # On a busy machine what is at work may have to wait for a processor.
        idle = used_ns < _IDLE_SHARE * _STEP_S * 1e9 and not background.is_runnable()
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
    return None if named else refuse_unknown(value, call_s=call_s)
