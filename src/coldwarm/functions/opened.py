"""Looks into whatever a function returns, without asking it for anything.

No method of an unknown value is called, no property read, nothing converted: that might do the
very work which the timed call left undone. Objects are opened by their ``__dict__`` and their
slots; what a class of another language keeps cannot be seen.
"""

from coldwarm.functions import inside, kinds
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
        lazy = framework in _SUBCLASSED and shape.is_lazy(inner=False)
        if lazy or kinds.is_mapped(value):
            self.lazy = self.lazy or type(value).__name__
        if framework == "numpy" and value.dtype.hasobject:
            self._add(value.ravel().tolist(), place)
        if kinds.is_elsewhere(value, framework):
            self.opaque = self.opaque or f"{type(value).__name__} on {value.device.type}"

    def _object(self, value: "Any", shape: Shape, place: int) -> None:
        called = shape.is_callable
        self._functions += called and place == _ITEM
        self._values += not called and place != _IN_FUNCTION
        inner = place != _ITEM
        if shape.is_lazy(inner=inner) or shape.has_uncomputed(value):
            self.lazy = self.lazy or type(value).__name__
        elif shape.is_opaque():
            self.opaque = self.opaque or type(value).__name__
        self._add(inside.objects(value, shape), max(place, _ATTRIBUTE))


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
