"""The arrays in a value that may still be computed, and the way to each of them.

Inside the timed window: nothing is judged here. What is opened is what ``opened`` opens.
"""

from coldwarm.functions import inside, kinds
from coldwarm.functions.inside import Shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    Path = tuple[tuple[Any, Any, Any, int], ...]
    """From the outside: what takes a thing out of another, by what, what counts those that are
    there, and how many they were."""

MOVED = (TypeError, AttributeError, LookupError)
"""What a path raises that does not lead to an array any more."""


def _attribute(value: "Any", name: str) -> "Any":
    return object.__getattribute__(value, "__dict__")[name]


def _slot(value: "Any", member: "Any") -> "Any":
    return member.__get__(value, type(value))


def at(value: "Any", path: "Path") -> "Any":
    """Return what lies in a value where a path leads.

    Raises:
        TypeError, AttributeError, LookupError: nothing does, or there are more things on the way.
    """
    for take, by, size, count in path:
        if size is not None and size(value) != count:
            raise LookupError
        value = take(value, by)
    return value


class Arrays:
    """The arrays of frameworks that go on after a call has returned."""

    def __init__(self, value: "Any") -> None:
        """Look into the value; into each object once."""
        self.found: list[tuple[str, Any, Path | None]] = []
        """Which framework, the array, the path to it; ``None``: it cannot be gone again."""
        self._shapes: dict[type, Shape] = {}
        self._seen: dict[int, Any] = {}  # kept, so that nothing else gets its number
        # A way is its last step and the way before it; ``None``: there is none.
        self._left: list[tuple[Any, Any]] = [(value, ())]
        while self._left:
            self._look(*self._left.pop())

    def _look(self, value: "Any", way: "Any") -> None:
        kind = type(value)
        shape = self._shapes.get(kind)
        if shape is None:
            shape = self._shapes[kind] = Shape(kind)
        if shape.is_plain or shape.is_skipped or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if shape.container is not None:
            self._open(value, shape, way)
        elif shape.framework is not None:
            self._array(value, shape.framework, way)
        elif shape.is_function:
            self._add(inside.held(value, shape))
        elif shape.is_of_python or shape.is_table:
            self._add(inside.objects(value, shape))
        if shape.has_attributes:
            own = inside.own_names(value) or {}
            self._left += _steps([*own.items()], (_attribute, None, 0), way)
            if shape.slots:
                self._left += _steps(inside.slots(value, shape), (_slot, None, 0), way)

    def _array(self, value: "Any", framework: str, way: "Any") -> None:
        if framework != "numpy":
            self.found.append((framework, value, _path(way)))
        elif value.dtype.hasobject:
            self._add(value.ravel().tolist())

    def _open(self, value: "Any", shape: Shape, way: "Any") -> None:
        base = shape.container
        if base is dict:
            count = dict.__len__(value)
            self._add([*dict.keys(value)])
            self._left += _steps([*dict.items(value)], (dict.__getitem__, dict.__len__, count), way)
        elif base in {list, tuple}:
            count = base.__len__(value)
            step = (base.__getitem__, base.__len__, count)
            self._left += _steps(enumerate(base.__iter__(value)), step, way)
        else:
            self._add(inside.items(value, shape))

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
