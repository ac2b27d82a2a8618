"""Waits until what a function returned is there, inside the timed window.

The arrays in a result that may still be computed are found once, with the way to each of them.
Nothing is judged here. What is opened is what `unfinished` opens.
"""

import sys

from coldwarm.frameworks.base import module_of
from coldwarm.functions import kinds, values
from coldwarm.functions.kinds import Shape
from coldwarm.wire import TYPE_CHECKING

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
    for waiter in waiters(value):
        waiter(value)


def waiters(value: "Any") -> "list[Callable[[Any], None]]":
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
            found, kind = waiters(out), type(out)
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
                at(out, path).block_until_ready()
        except MOVED:
            wait_for_all(out)

    return wait_by_path


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


class _Arrays:
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
            self._add(kinds.captured(value, shape))
        elif shape.is_of_python or shape.is_table:
            self._add(kinds.inner_objects(value, shape))
        if shape.has_attributes:
            own = kinds.own_names(value) or {}
            self._left += _steps([*own.items()], (_attribute, None, 0), way)
            if shape.slots:
                self._left += _steps(kinds.set_slots(value, shape), (_slot, None, 0), way)

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
            self._add(kinds.items(value, shape))

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
