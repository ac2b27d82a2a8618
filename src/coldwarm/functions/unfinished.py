"""Results that are not there when a call returns: what waits for them, and what refuses others.

Waiting happens inside the timed window. The arrays in a result that may still be computed are found
once, with the way to each of them; nothing is judged.

Whether a call has done all its work is looked at outside of the window. Nothing waits for the work
then, or does it: what is not done is refused. A result is looked into without asking it for
anything: no method of an unknown value is called, no property read, nothing converted. That might
do the very work which the timed call left undone. Objects are opened by their `__dict__` and their
slots; what a class of another language keeps cannot be seen.
"""

import os
import sys
import time

from coldwarm.frameworks.base import module_of
from coldwarm.functions import background, kinds, values
from coldwarm.functions.kinds import Shape, Walk
from coldwarm.wire import TYPE_CHECKING, because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Path = tuple[tuple[Any, Any, Any, int], ...]
    """From the outside: what takes a thing out of another, by what, what counts those that are
    there, and how many they were."""


_MOST_PATHS = 100
_GPU = ("torch", "cupy", "numba")


def wait(value: "Any") -> None:
    """Wait until every array in a value is there, whatever framework it is of."""
    for waiter in _waiters(value):
        waiter(value)


def _waiters(value: "Any") -> "list[Callable[[Any], None]]":
    """Return what must be called with values like this one until they are there.

    Of the frameworks that compute on a GPU, all work of a device is waited for, whatever stream
    it is in; and of one that has used a GPU, also where it returns numbers of the host.
    """
    if not may_go_on():
        return []  # and a value of many objects costs nothing
    if values.is_jax(value):
        alone: Callable[[Any], None] = module_of("jax").wait_for_array
        return [alone, *_of_gpus({})]
    arrays: dict[str, list[Any]] = {}
    paths = []
    for framework, array, path in _Arrays(value).found:
        arrays.setdefault(framework, []).append(array)
        if framework == "jax":
            paths.append(path)
    of_jax = [_of_jax(value, paths)] if arrays.pop("jax", []) else []
    if not of_jax and type(value) in {list, tuple, dict} and len(value) <= _MOST_PATHS:
        of_jax = [_wait_inside]
    return [*of_jax, *_of_gpus(arrays)]


def waiter() -> "Callable[[Any], None]":
    """Return what waits for the results of one function, each in the way that its type wants.

    A way that was found is kept for as long as results are of one type; where that may hold
    arrays, also for as long as no framework starts that had not.
    """
    kind: type | None = None
    known = False
    found: list[Callable[[Any], None]] = []

    def wait_for_result(out: "Any") -> None:
        nonlocal kind, known, found
        if type(out) is not kind or (not known and may_go_on()):
            found, kind = _waiters(out), type(out)
            known = kind in kinds.PLAIN or kind.__module__ == "numpy" or may_go_on()
        for one in found:
            one(out)

    return wait_for_result


def _wait_inside(out: "Any") -> None:
    """Wait for arrays of JAX in a container that had none at first; a GPU is waited for whole.

    Numbers and arrays of NumPy are passed over: every call pays for this.
    """
    for one in out.values() if type(out) is dict else out:
        kind = type(one)
        if kind not in kinds.PLAIN and kind.__module__ != "numpy":
            for framework, array, _ in _Arrays(one).found:
                if framework == "jax":
                    module_of("jax").wait_for_array(array)


def may_go_on() -> bool:
    """Say whether a framework may be computing after a call has returned."""
    if "jax" in sys.modules and module_of("jax").has_started():
        return True
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return True
    return "cupy" in sys.modules or "numba.cuda" in sys.modules


def finished_by(
    sync: "Callable[[Any], Any]", function: "Callable[..., Any]"
) -> "Callable[..., Any]":
    """Return a function that calls one, and another on its result, which it may replace."""

    def called(*positional: "Any", **named: "Any") -> "Any":
        out = function(*positional, **named)
        done = sync(out)
        return out if done is None else done

    return called


def _of_gpus(arrays: "dict[str, list[Any]]") -> "list[Callable[[Any], None]]":
    found = [
        module_of(framework).waiter(arrays.get(framework, []))
        for framework in _GPU
        if framework in sys.modules
    ]
    return [waiter for waiter in found if waiter is not None]


def _of_jax(value: "Any", paths: "list[Path | None]") -> "Callable[[Any], None]":
    """Return what waits for all arrays, also for those in what JAX does not open."""
    jax = module_of("jax")
    inside = filter(values.is_jax, sys.modules["jax"].tree.leaves(value))
    if sum(1 for _ in inside) == len(paths):
        wait_for_tree: Callable[[Any], None] = jax.wait
        return wait_for_tree

    def wait_for_all(out: "Any") -> None:
        jax.wait([array for name, array, _ in _Arrays(out).found if name == "jax"])

    known = [path for path in paths if path is not None]
    if len(known) < len(paths) or len(known) > _MOST_PATHS:
        return wait_for_all

    def wait_by_path(out: "Any") -> None:
        try:
            for path in known:
                _at(out, path).block_until_ready()
        except _MOVED:
            wait_for_all(out)

    return wait_by_path


_MOVED = (TypeError, AttributeError, LookupError)
"""Errors of a path that does not lead to an array any more."""


def _attribute(value: "Any", name: str) -> "Any":
    return object.__getattribute__(value, "__dict__")[name]


def _slot(value: "Any", member: "Any") -> "Any":
    return member.__get__(value, type(value))


def _at(value: "Any", path: "Path") -> "Any":
    """Return what lies in a value where a path leads.

    Raises:
        TypeError, AttributeError, LookupError: nothing does, or there are more things on the way.
    """
    for take, by, size, count in path:
        if size is not None and size(value) != count:
            raise LookupError
        value = take(value, by)
    return value


class _Arrays(Walk):
    """The arrays of frameworks that go on after a call has returned.

    A thing is held by a way: its last step and the way before it; ``None``: there is none.
    """

    def __init__(self, value: "Any") -> None:
        """Look into the value."""
        self.found: list[tuple[str, Any, Path | None]] = []
        """The framework, the array, the path to it; ``None``: it cannot be gone again."""
        super().__init__(value, ())

    def _items(self, value: "Any", shape: Shape, held: "Any") -> None:
        base = shape.container
        if base is dict:
            count = dict.__len__(value)
            self._add([*dict.keys(value)])
            step = (dict.__getitem__, dict.__len__, count)
            self._left += _steps([*dict.items(value)], step, held)
        elif base in {list, tuple}:
            count = base.__len__(value)
            step = (base.__getitem__, base.__len__, count)
            self._left += _steps(enumerate(base.__iter__(value)), step, held)
        else:
            self._add(shape.items(value))

    def _array(self, value: "Any", shape: Shape, held: "Any") -> None:
        if shape.framework != "numpy":
            self.found.append((str(shape.framework), value, _path(held)))
        elif value.dtype.hasobject:
            self._add(value.ravel().tolist())

    def _function(self, value: "Any", shape: Shape, held: "Any") -> None:
        del held
        self._add(shape.captured(value))

    def _object(self, value: "Any", shape: Shape, held: "Any") -> None:
        del held
        self._add(shape.inner_objects(value))

    def _attributes(self, value: "Any", shape: Shape, held: "Any") -> None:
        own = kinds.own_names(value) or {}
        self._left += _steps([*own.items()], (_attribute, None, 0), held)
        if shape.slots:
            self._left += _steps(shape.set_slots(value), (_slot, None, 0), held)

    def _add(self, values: "Iterable[Any]") -> None:
        """Look into these as well, to which no path leads."""
        self._left += [(one, None) for one in values if type(one) not in kinds.PLAIN]


def _steps(
    pairs: "Iterable[tuple[Any, Any]]", step: "tuple[Any, Any, int]", way: "Any"
) -> "Iterator[tuple[Any, Any]]":
    for by, one in pairs:
        if type(one) not in kinds.PLAIN:
            yield one, None if way is None else (by, step, way)


def _path(way: "Any") -> "Path | None":
    if way is None:
        return None
    found = []
    while way:
        by, (take, size, count), way = way
        found.append((take, by, size, count))
    return tuple(reversed(found))


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


class _OpenedValue(Walk):
    """All that is inside a value: the first thing in it that may not be computed.

    A thing is held by containers alone, an object, or a function.
    """

    def __init__(self, value: "Any") -> None:
        """Look into the value."""
        self.lazy: str | None = None
        """The class of the first thing that computes only when it is asked."""
        self.opaque: str | None = None
        """The class of the first thing that cannot be looked into."""
        self.elsewhere: str | None = None
        """The class of the first array on a device of which nobody here knows how to wait."""
        self.unsure: list[tuple[Any, str]] = []
        """Objects of other people's classes, each with the method in which it may compute."""
        self._values = self._functions = 0
        super().__init__(value, _ITEM)
        if self._functions and not self._values and self.lazy is None:
            self.lazy = "function"

    def _plain(self, value: "Any", held: int) -> None:
        self._values += value is not None and held != _IN_FUNCTION

    def _items(self, value: "Any", shape: Shape, held: int) -> None:
        self._add(shape.items(value), held)

    def _array(self, value: "Any", shape: Shape, held: int) -> None:
        framework = str(shape.framework)
        self._values += held != _IN_FUNCTION
        if framework in _SUBCLASSED:
            self._doubt(value, shape)
        if kinds.is_mapped(value):
            self.lazy = self.lazy or type(value).__name__
        if framework == "numpy" and value.dtype.hasobject:
            self._add(value.ravel().tolist(), held)
        if kinds.is_elsewhere(value, framework):
            self.elsewhere = f"{type(value).__name__} on {value.device.type}"

    def _function(self, value: "Any", shape: Shape, held: int) -> None:
        self._functions += held == _ITEM
        self._add(shape.captured(value), _IN_FUNCTION)
        if shape.is_tree:
            self._add([*value.args, *value.keywords.values()], held)

    def _object(self, value: "Any", shape: Shape, held: int) -> None:
        called = shape.is_callable
        self._functions += called and held == _ITEM
        self._values += not called and held != _IN_FUNCTION
        self._doubt(value, shape)
        if shape.is_lazy(inner=held != _ITEM):
            self.lazy = self.lazy or type(value).__name__
        elif shape.is_opaque():
            self.opaque = self.opaque or type(value).__name__
        self._add(shape.inner_objects(value), max(held, _ATTRIBUTE))

    def _attributes(self, value: "Any", shape: Shape, held: int) -> None:
        held = max(held, _IN_FUNCTION if type(value) is kinds.FUNCTION else _ATTRIBUTE)
        self._add((kinds.own_names(value) or {}).values(), held)
        self._add([inner for _, inner in shape.set_slots(value)], held)

    def _add(self, values: "Iterable[Any]", held: int) -> None:
        self._left += [(item, held) for item in values]

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
    opened = _OpenedValue(value)
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
    disturbed = background.is_busy()
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
"""Processor time that the threads of XLA may use, which do not."""


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
