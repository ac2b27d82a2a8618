"""What lies directly in a value, and how its class says where to look.

No method of an unknown value is called, no property read, nothing converted.
"""

import sys

from coldwarm.functions import kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LEFT_OUT = ("frame", "traceback", "code")


class Shape:
    """What a class says of its values, found out once in a walk: frameworks may arrive later."""

    def __init__(self, kind: type) -> None:
        """Look at the class."""
        self.is_plain = kind in kinds.PLAIN
        self.is_skipped = issubclass(kind, type) or kind is type(sys)
        self.container: Any = None
        self.framework: str | None = None
        if self.is_plain or self.is_skipped:
            return
        bases = (dict, *kinds.containers())
        self.container = next((base for base in bases if issubclass(kind, base)), None)
        self.framework = kinds.array_framework(kind)
        partial = getattr(sys.modules.get("functools"), "partial", None)
        self.is_partial = partial is not None and issubclass(kind, partial)
        # JAX's own is a tree of its arguments.
        self.is_tree = self.is_partial and kinds.package(kind) == "jax"
        self.is_function = self.is_partial or kind in _FUNCTIONS
        self.is_of_python = kinds.is_of_python(kind)
        self.is_table = any(kinds.package(base) == "pandas" for base in kind.__mro__)
        self.has_attributes = self.framework is None and kinds.package(kind) != "logging"
        self.is_callable = any("__call__" in base.__dict__ for base in kind.__mro__)
        slots = [
            member
            for base in kind.__mro__
            if "__slots__" in base.__dict__
            for member in base.__dict__.values()
            if type(member) is kinds.SLOT
        ]
        self.slots: tuple[Any, ...] = tuple(slots)
        self._kind = kind
        self._lazy: dict[bool, bool] = {}
        self._computing: tuple[str | None] | None = None
        self._opaque: bool | None = None

    def is_lazy(self, *, inner: bool) -> bool:
        """Say whether its values are computed only later, as ``kinds.is_lazy`` has it."""
        if inner not in self._lazy:
            self._lazy[inner] = kinds.is_lazy(self._kind, inner=inner)
        return self._lazy[inner]

    def is_opaque(self) -> bool:
        """Say whether its values cannot be looked into, as ``kinds.is_opaque`` has it."""
        if self._opaque is None:
            self._opaque = kinds.is_opaque(self._kind)
        return self._opaque

    def computing(self, value: "Any") -> "str | None":
        """Return the method by which a value of somebody else's class may compute when asked."""
        if self._computing is None:
            self._computing = (kinds.computing(self._kind),)
        (name,) = self._computing
        # A property that is kept is there once it was computed.
        return None if name is None or name in (own_names(value) or ()) else name


_FUNCTIONS = (kinds.FUNCTION, kinds.METHOD, kinds.BUILT_IN)


def items(value: "Any", shape: Shape) -> "list[Any]":
    """Return the items of a container, of a dictionary its keys as well."""
    if shape.container is dict:
        return [*dict.keys(value), *dict.values(value)]
    return list(shape.container.__iter__(value))


def _referred(value: "Any") -> "list[Any]":
    """Return the objects that one of Python's own classes, written in C, refers to."""
    import gc

    return [one for one in gc.get_referents(value) if type(one).__name__ not in _LEFT_OUT]


def objects(value: "Any", shape: Shape) -> "list[Any]":
    """Return what an object keeps where Python cannot see it, as far as that can be asked."""
    if shape.is_of_python:
        return _referred(value)
    return kinds.objects_of(value, type(value)) if shape.is_table else []


def held(value: "Any", shape: Shape) -> "list[Any]":
    """Return what a function has with it."""
    kind = type(value)
    if kind is kinds.METHOD:
        return [value.__self__, value.__func__]
    if kind is kinds.BUILT_IN:
        return [value.__self__]
    if shape.is_partial:
        return [value.func, value.args, value.keywords]
    found = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    for cell in value.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            continue
    return found


def own_names(value: "Any") -> "dict[str, Any] | None":
    """Return an object's ``__dict__``; ``None``: it has none."""
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return own if type(own) is dict else None


def slots(value: "Any", shape: Shape) -> "list[tuple[Any, Any]]":
    """Return an object's slots that are set, and what they hold."""
    found = []
    for member in shape.slots:
        try:
            found.append((member, member.__get__(value, type(value))))
        except AttributeError:
            continue
    return found


def attributes(value: "Any", shape: Shape) -> "list[Any]":
    """Return what an object keeps in its ``__dict__`` and its slots; run no code of its own."""
    own = own_names(value) or {}
    return [*own.values(), *(inner for _, inner in slots(value, shape))]
