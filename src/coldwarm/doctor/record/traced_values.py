"""Numbers and texts that a compiled function took from around it, and that are others by now.

JAX reads an attribute of a static argument, a variable of the module and one of the function
around it while it traces. The compiled function goes on with what it read then.
"""

from _weakref import ref

from coldwarm.doctor.record import sites
from coldwarm.doctor.record.compiled_functions import described, plain_around
from coldwarm.doctor.record.signatures import fixed
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from coldwarm.doctor.record.journal import Journal


_NUMBERS = (bool, int, float, str)
_BY_IDENTITY: "Any" = object.__hash__
_MOST_NAMES = 64
_MOST_OBJECTS = 16
"""Static arguments of one function that are remembered, the last ones."""


class _Object:
    """What a function took from a static argument."""

    __slots__ = ("hashed", "held", "values")

    def __init__(self, one: "Any", hashed: "int | None") -> None:
        self.held, self.hashed = ref(one), hashed
        self.values: dict[str, list[Any]] = {}

    def stands_for(self, one: "Any", hashed: "int | None") -> bool:
        """Say whether JAX takes it for another object: by hash and equality, as it asks for."""
        other = self.held()
        if other is None or hashed != self.hashed:
            return False
        return other is one or (type(other) is type(one) and bool(other == one))


class _Read:
    """What one function took from around it when it was compiled."""

    __slots__ = ("around", "changed", "function", "objects")

    def __init__(self, function: "Any") -> None:
        self.function = function
        self.around: dict[str, list[Any]] = {}
        """By name, all that it has been compiled with: it may be called with any of these."""
        self.objects: dict[int, _Object] = {}
        """The same of static arguments, by the identity of the object."""
        self.changed: dict[str, tuple[Any, Any, Any]] = {}
        """By name: what it was, what it is, and where the call counts that came after that."""


class StaleValues:
    """Remembers what compiled functions took from around them, and looks when they are called."""

    def __init__(self, journal: "Journal") -> None:
        """Write into ``journal``."""
        self._journal = journal
        self._read: dict[int, _Read] = {}
        self._told: set[tuple[int, str]] = set()

    def compiled(self, function: "Any", static: "Mapping[str, Any]") -> None:
        """Remember what a function takes now that it is compiled; ``static`` are its arguments."""
        code = getattr(function, "__code__", None)
        if code is None or not sites.is_users(code):
            return
        around = plain_around(function)
        named = {**static, "self": function.__self__} if hasattr(function, "__self__") else static
        objects = [
            (name, one)
            for name, one in named.items()
            if hasattr(one, "__dict__") and _hashed(one) is not None
        ]
        known = self._read.get(id(function))
        if known is None or known.function() is not function:
            if not around and not objects:
                return
            known = self._read[id(function)] = _Read(ref(function))
        known.changed.clear()
        _add(known.around, around)
        for name, one in objects:
            held, hashed = known.objects.pop(id(one), None), _hashed(one)
            if held is None or not held.stands_for(one, hashed):
                held = _Object(one, hashed)
            known.objects[id(one)] = held
            _add(held.values, {f"{name}.{key}": value for key, value in _plain(vars(one)).items()})
            for old in list(known.objects)[:-_MOST_OBJECTS]:
                del known.objects[old]

    def called(self, function: "Any", first: "Any", slot: "int | None") -> None:
        """Look whether what a function took is as it was; ``first`` is its first argument."""
        known = self._read.get(id(function))
        if known is None or known.function() is not function:
            return
        self._tell(known)  # nothing was compiled for the call before
        if known.around:
            now = plain_around(function)
            for name, earlier in known.around.items():
                if name in now and _is_other(now[name], earlier):
                    known.changed[name] = earlier[-1], now[name], slot
        for one in (first, getattr(function, "__self__", None)):
            held = _taken(known, one)
            if held is None:
                continue
            values = vars(one)
            for name, earlier in held.values.items():
                value = values.get(name.partition(".")[2], earlier[-1])
                if _is_other(value, earlier):
                    known.changed[name] = earlier[-1], value, slot

    def settle(self) -> None:
        """Take note that no function is called any more."""
        for known in list(self._read.values()):
            self._tell(known)

    def _tell(self, known: _Read) -> None:
        if not known.changed:
            return
        function = known.function()
        code = getattr(function, "__code__", None)
        for name, (before, now, slot) in known.changed.items():
            key = id(code), name
            if code is not None and slot is not None and key not in self._told:
                self._told.add(key)
                self._journal.write(
                    "stale",
                    function=described(function, code.co_name),
                    slot=slot,
                    name=name,
                    before=fixed(name, before),
                    now=fixed(name, now),
                )
        known.changed.clear()


def _taken(known: _Read, one: "Any") -> "_Object | None":
    """Return what is remembered of an object, or of another that JAX takes for it.

    Most objects that are told apart by what they hold are so by all of it.
    """
    hashed = _hashed(one) if known.objects and hasattr(one, "__dict__") else None
    if hashed is None:
        return None
    if type(one).__hash__ is _BY_IDENTITY:
        held = known.objects.get(id(one))
        return held if held is not None and held.held() is one else None
    try:
        return next((each for each in known.objects.values() if each.stands_for(one, hashed)), None)
    except Exception:  # the program's own code compares them, and may raise anything
        return None


def _hashed(one: "Any") -> "int | None":
    """Return the hash of an object; ``None``: it has none, as what holds arrays."""
    try:
        return hash(one)
    except Exception:  # the program's own code compares them, and may raise anything
        return None


def _plain(values: "Mapping[Any, Any]") -> "dict[str, Any]":
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(name, str) and isinstance(value, _NUMBERS):
            found[name] = value
            if len(found) >= _MOST_NAMES:
                break
    return found


def _add(known: "dict[str, list[Any]]", values: "Mapping[str, Any]") -> None:
    """Add values to those that were before, the newest last."""
    for name, value in values.items():
        earlier = known.setdefault(name, [])
        if not _is_other(value, earlier):
            earlier[:] = [one for one in earlier if one is not value and one != value]
        earlier.append(value)
        del earlier[:-_MOST_NAMES]


def _is_other(value: "Any", earlier: "list[Any]") -> bool:
    """Say whether a number or a text is none of the earlier ones; other types are asked nothing."""
    if not isinstance(value, _NUMBERS):
        return False
    return all(one is not value and bool(one != value) for one in earlier)
