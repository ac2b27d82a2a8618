"""Looks into whatever a function returns, without asking it for anything.

No method of an unknown value is called, no property read, nothing converted: that might do the
very work which the timed call left undone. Objects are opened by their ``__dict__`` and their
slots; what a class of another language keeps cannot be seen.
"""

import sys
import time

from coldwarm.functions import inside, kinds, running
from coldwarm.functions.inside import Shape
from coldwarm.wire import because

TYPE_CHECKING = False
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


class UnfinishedError(TypeError):
    """A result that is not there, or of which nobody can tell; ``coded_reason`` says why."""

    def __init__(self, reason: "dict[str, Any]") -> None:
        """Keep the reason, as it goes over the pipe."""
        super().__init__(reason["code"])
        self.coded_reason = reason


class Opened:
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
            self._add(inside.items(value, shape), place)
        elif shape.framework is not None:
            self._array(value, shape, place)
        elif shape.is_function:
            self._functions += place == _ITEM
            self._add(inside.held(value, shape), _IN_FUNCTION)
            if shape.is_tree:
                self._add([*value.args, *value.keywords.values()], place)
        else:
            self._object(value, shape, place)
        if shape.has_attributes:
            held_by = _IN_FUNCTION if kind is kinds.FUNCTION else _ATTRIBUTE
            self._add(inside.attributes(value, shape), max(place, held_by))

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
        self._add(inside.objects(value, shape), max(place, _ATTRIBUTE))

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
    opened = Opened(value)
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
    disturbed = running.is_runnable()
    used = _own_s if disturbed else _used_s
    try:
        n_waits = running.n_waits()
        began_s, used_s, queued_s = _now_s(), used(), running.queued_s()
        if name in {"__float__", "__complex__"}:
            float(value) if name == "__float__" else complex(value)
        elif numpy is None:
            return None
        elif name == "__array__" and isinstance(value, numpy.ndarray):
            value.__array__()  # which NumPy leaves out where it has an array already
        else:
            numpy.asarray(value)
        used_s = used() - used_s
        awake_s = used_s + running.queued_s() - queued_s
        asleep_s = _now_s() - began_s - awake_s
        if asleep_s <= _ASLEEP_S or running.n_waits() == n_waits:  # a host takes time, too
            return used_s
        return None if disturbed else used_s + asleep_s
    except Exception:  # noqa: BLE001 - whatever somebody else's class raises
        return None
