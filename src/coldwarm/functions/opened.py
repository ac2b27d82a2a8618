"""Looks into whatever a function returns, without asking it for anything.

No method of an unknown value is called, no property read, nothing converted: that might do the
very work which the timed call left undone. Objects are opened by their ``__dict__`` and their
slots; what a class of another language keeps cannot be seen.
"""

import sys

from coldwarm.functions import kinds
from coldwarm.wire import because

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_ITEM, _ATTRIBUTE, _IN_FUNCTION = range(3)
"""Where a thing is: in containers alone, in an object, in what a function has with it."""
_SUBCLASSED = ("numpy", "torch")
"""Frameworks from whose arrays others derive classes."""


class UnfinishedError(TypeError):
    """A result that is not there, or of which nobody can tell; ``coded_reason`` says why."""

    def __init__(self, reason: "dict[str, Any]") -> None:
        """Keep the reason, as it goes over the pipe."""
        super().__init__(reason["code"])
        self.coded_reason = reason


class Opened:
    """All that is inside a value: its arrays, and the first thing that may not be computed."""

    def __init__(self, value: "Any") -> None:
        """Look into the value; into each object once."""
        self.arrays: list[tuple[str, Any]] = []
        """Arrays of frameworks that go on after a call has returned, and which framework."""
        self.lazy: str | None = None
        """The class of the first thing that computes only when it is asked."""
        self.opaque: str | None = None
        """The class of the first thing that cannot be looked into."""
        self._values = self._functions = 0
        self._seen: dict[int, Any] = {}  # kept, so that nothing else gets its number
        self._left: list[tuple[Any, int]] = [(value, _ITEM)]
        while self._left:
            self._look(*self._left.pop())
        if self._functions and not self._values and self.lazy is None:
            self.lazy = "function"

    def _look(self, value: "Any", place: int) -> None:
        kind = type(value)
        if kind in kinds.PLAIN:
            self._values += value is not None and place != _IN_FUNCTION
            return
        if id(value) in self._seen or issubclass(kind, type) or kind is type(sys):
            return
        self._seen[id(value)] = value
        inside = _items(value, kind)
        framework = kinds.array_framework(kind)
        if inside is not None:
            self._add(inside, place)
        elif framework is not None:
            self._array(value, framework, place)
        elif (held := _held(value, kind)) is not None:
            self._functions += place == _ITEM
            self._add(held, _IN_FUNCTION)
        else:
            self._object(value, kind, place)
        if framework is None and kinds.package(kind) != "logging":
            held_by = _IN_FUNCTION if kind is kinds.FUNCTION else _ATTRIBUTE
            self._add(_attributes(value, kind), max(place, held_by))

    def _add(self, values: "Iterable[Any]", place: int) -> None:
        self._left += [(item, place) for item in values]

    def _array(self, value: "Any", framework: str, place: int) -> None:
        self._values += place != _IN_FUNCTION
        lazy = framework in _SUBCLASSED and kinds.is_lazy(type(value))
        if lazy or kinds.is_mapped(value):
            self.lazy = self.lazy or type(value).__name__
        if framework != "numpy":
            self.arrays.append((framework, value))
        elif value.dtype.hasobject:
            self._add(value.ravel().tolist(), place)
        if kinds.is_elsewhere(value, framework):
            self.opaque = self.opaque or f"{type(value).__name__} on {value.device.type}"

    def _object(self, value: "Any", kind: type, place: int) -> None:
        called = callable(value)
        self._functions += called and place == _ITEM
        self._values += not called and place != _IN_FUNCTION
        inner = place != _ITEM
        if kinds.is_lazy(kind, inner=inner) or kinds.has_uncomputed(value, kind):
            self.lazy = self.lazy or kind.__name__
        elif kinds.is_opaque(kind):
            self.opaque = self.opaque or kind.__name__
        inside = _referred(value) if kinds.is_of_python(kind) else kinds.objects_of(value, kind)
        self._add(inside, max(place, _ATTRIBUTE))


def refuse_unknown(value: "Any") -> None:
    """Refuse what is computed only later, or may be.

    Raises:
        UnfinishedError: it holds a generator, a coroutine, a future and the like, a lazy array of
            a framework that nobody here knows, or something that cannot be looked into.
    """
    opened = Opened(value)
    if opened.lazy is not None:
        if type(value).__name__ == "coroutine":
            value.close()  # one that is never awaited complains
        raise UnfinishedError(because("lazy_result", kind=opened.lazy.replace("_", " ")))
    if opened.opaque is not None:
        raise UnfinishedError(because("opaque_result", kind=opened.opaque))


def _items(value: "Any", kind: type) -> "list[Any] | None":
    """Return the items of a container; ``None``: it is none."""
    if issubclass(kind, dict):
        return [*dict.keys(value), *dict.values(value)]
    for base in kinds.containers():
        if issubclass(kind, base):
            return list(base.__iter__(value))  # type: ignore[attr-defined] # all of them have it
    return None


def _referred(value: "Any") -> "list[Any]":
    """Return the objects that one of Python's own classes, written in C, refers to."""
    import gc

    left_out = ("frame", "traceback", "code")
    return [one for one in gc.get_referents(value) if type(one).__name__ not in left_out]


def _held(value: "Any", kind: type) -> "list[Any] | None":
    """Return what a function has with it; ``None``: it is none."""
    if kind is kinds.METHOD:
        return [value.__self__, value.__func__]
    if kind is kinds.BUILT_IN:
        return [value.__self__]
    partial = getattr(sys.modules.get("functools"), "partial", None)
    if partial is not None and issubclass(kind, partial):
        return [value.func, value.args, value.keywords]
    if kind is not kinds.FUNCTION:
        return None
    found = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    for cell in value.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            continue
    return found


def _attributes(value: "Any", kind: type) -> "Iterator[Any]":
    """Yield what an object keeps in its ``__dict__`` and its slots, and run no code of its own."""
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = None
    if type(own) is dict:
        yield from list(own.values())
    for base in kind.__mro__:
        if "__slots__" not in base.__dict__:
            continue
        for member in list(base.__dict__.values()):
            if type(member) is kinds.SLOT:
                try:
                    yield member.__get__(value, kind)
                except AttributeError:
                    continue
