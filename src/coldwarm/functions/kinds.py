"""Kinds of values: which are there when a function returns them, and what lies in each.

A kind is judged by its class alone; the value itself is not asked. So a proxy that computes
when somebody asks it anything stays asleep. No method of an unknown value is called, no property
read, nothing converted.
"""

import sys

from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class _Sample:
    """Sample from which the classes of methods and slots are taken."""

    __slots__ = ("slot",)

    def method(self) -> None:
        """Do nothing."""


PLAIN = {
    *(bool, int, float, complex, str, bytes, bytearray, memoryview, range, slice),
    *(type(None), type(...), type(NotImplemented)),
    *(getattr(sys.modules["_io"], name) for name in ("BytesIO", "StringIO")),
}
"""Classes whose values are whole as they stand."""
FUNCTION, METHOD, BUILT_IN = type(lambda: None), type(_Sample().method), type(len)
_SLOT = type(_Sample.__dict__["slot"])
_VIEWS: "tuple[type, ...]" = (type({}.values()), type({}.keys()), type({}.items()))
_HEAP = 1 << 9
"""The flag of a class that was made while the program ran, of Python's or of others'."""

_LATER = ("__await__", "__anext__", "add_done_callback", "is_completed")
"""Attributes that only a value has that is computed later."""
_STEPPED = ("generator", "map", "filter")
"""Iterators that compute each item as it is asked for."""
_HANDLES = (("is_alive", "join"), ("poll", "wait"), ("ready", "wait"), ("ready", "get"))
"""Attributes of a handle of something that runs."""
_CONVERTED = (
    *("__array__", "__array_interface__", "__cuda_array_interface__", "__dlpack__"),
    *("__jax_array__", "__float__", "__complex__"),
)
_COMPUTING = (
    *("block_until_ready", "collect", "compute", "evaluate", "execute", "force", "materialize"),
    *("numpy", "realize", "result", "to_numpy", "tolist"),
)
"""Methods in which an unknown value may do its work, if they need no arguments."""
_EAGER = frozenset(
    (
        *("PIL", "awkward", "boost_histogram", "cycler", "h5py", "hist", "joblib", "matplotlib"),
        *("msgspec", "pyarrow", "polars", "shapely", "skimage", "tables", "vector"),
        *("astropy", "diffrax", "distrax", "equinox", "flax", "haiku", "jax", "jaxlib", "jaxopt"),
        *("lineax", "llvmlite", "lmfit", "ml_dtypes", "mpmath", "networkx", "numba", "numpy"),
        "_nrt_python",  # what the lists and dictionaries of Numba keep their memory in
        *("optax", "optimistix", "pandas", "pint", "scipy", "sklearn", "sparse", "statsmodels"),
        *("sympy", "torch", "triton", "uncertainties", "xarray"),
    )
)
"""Packages that compute at once, or keep what they compute later in arrays that are looked at."""
_WHOLE = {"PyDataFrame", "PySeries"}
"""Classes without a module of their own: what frames of Polars that are computed keep."""
_DEFERRED = {
    "pandas": ("pandas.core.groupby.", "pandas.core.resample", "pandas.core.window."),
    "xarray": ("xarray.core.groupby", "xarray.core.resample"),
    "torch": ("torch.utils.data.",),
    "pyarrow": ("pyarrow._dataset", "pyarrow.dataset", "pyarrow._acero"),
    "polars": ("polars.lazyframe.", "polars.expr.", "polars.dataframe.group_by"),
    "tinygrad": ("tinygrad.",),
    "mlx": ("mlx.",),
    "dask": ("dask.",),
    "distributed": ("distributed.",),
    "duckdb": ("duckdb",),
    "zarr": ("zarr.",),
    "ibis": ("ibis.",),
    "pyspark": ("pyspark.",),
    "ray": ("ray.",),
    "vaex": ("vaex.",),
}
"""Modules, of packages that compute at once, whose classes do not."""
_LAZY_CLASSES = {
    "numpy": ("NpzFile",),
    "scipy": ("_ProductLinearOperator", "_SumLinearOperator", "_PowerLinearOperator"),
    "xarray": ("LazilyIndexedArray", "LazilyVectorizedIndexedArray", "BackendArray"),
    "h5py": ("Dataset",),
    "polars": ("PyLazyFrame", "PyExpr"),
    "builtins": ("PyLazyFrame", "PyExpr"),
}
"""Classes, of packages that compute at once, that do not."""


def _containers() -> "tuple[type, ...]":
    """Return the classes that hold items, dictionaries left out."""
    deque = getattr(sys.modules.get("_collections"), "deque", None)
    return (list, tuple, set, frozenset, *_VIEWS, *([] if deque is None else [deque]))


def _array_framework(kind: type) -> "str | None":
    """Return whose array it is: ``numpy``, ``jax``, ``torch``, ``cupy``, ``numba``, or none."""
    for module, names in (
        ("numpy", ("ndarray", "generic")),
        ("jax", ("Array",)),
        ("torch", ("Tensor",)),
        ("cupy", ("ndarray",)),
        ("numba.cuda.cudadrv.devicearray", ("DeviceNDArrayBase",)),
    ):
        loaded = sys.modules.get(module)
        if loaded is None:
            continue
        for name in names:
            base = getattr(loaded, name, None)
            if type.__instancecheck__(type, base) and issubclass(kind, base):  # type: ignore[arg-type]
                return module.partition(".")[0]
    return None


def _is_lazy(kind: type, *, inner: bool = False) -> bool:
    """Say whether values of a class are computed only later, or handles of what runs.

    That is known of iterators, of what is awaited, of Python's own handles and of the classes of
    known libraries. What a class of somebody else's has for methods says nothing of it.
    ``inner``: such a value is an attribute of another one. Python's own iterators, threads,
    locks and queues are then how the other one works, and no part of the result.
    """
    if package(kind) in sys.stdlib_module_names and inner:
        later = any(_has(kind, name) for name in _LATER)
        return later or kind.__name__ in _STEPPED
    if any(_has(kind, name) for name in ("__next__", "__dask_graph__", *_LATER)):
        return not any(_is_holder(base) for base in kind.__mro__)
    if any(map(_is_deferred, kind.__mro__)):
        return True
    own = [base for base in kind.__mro__ if package(base) in sys.stdlib_module_names]
    return any(all(any(n in base.__dict__ for base in own) for n in pair) for pair in _HANDLES)


def _is_holder(kind: type) -> bool:
    """Say whether a class keeps its arrays in attributes, lazy ones as others."""
    return package(kind) == "xarray" and not _is_deferred(kind)


def _computing(kind: type) -> "str | None":
    """Return the first method by which a class of somebody else's may compute when it is asked.

    ``None``: it has none. Whether there is anything left to compute the name cannot say.
    """
    names = (*_CONVERTED, *_COMPUTING)
    found = next((name for name in names if _defers(kind, name)), None)
    return found or next(iter(_kept_properties(kind)), None)


def is_converted(name: str) -> bool:
    """Say whether a method is one that Python or NumPy calls where they want a number."""
    return name in {"__array__", "__array_interface__", "__float__", "__complex__"}


def _kept_properties(kind: type) -> "list[str]":
    """Return the properties of a user's own class that are kept once they were computed."""
    return [
        name
        for base in kind.__mro__
        if not _is_known(base)
        for name, member in base.__dict__.items()
        if type(member).__name__ == "cached_property"
    ]


def is_mapped(value: "Any") -> bool:
    """Say whether an array of NumPy is a file, read when somebody looks at it."""
    while value is not None and _array_framework(type(value)) == "numpy":
        if type(value).__name__ == "memmap" and getattr(value, "mode", "w+") != "w+":
            return True
        value = getattr(value, "base", None)
    return False


def _has(kind: type, name: str) -> bool:
    return any(name in base.__dict__ for base in kind.__mro__)


def _defers(kind: type, name: str) -> bool:
    """Say whether a class may compute in a method, and is of nobody who is known not to."""
    definer = next((base for base in kind.__mro__ if name in base.__dict__), None)
    if definer is None or _is_known(definer):
        return False
    code = getattr(definer.__dict__[name], "__code__", None)
    if code is None:
        # A field of a dataclass has its default here.
        return callable(definer.__dict__[name]) or _has(type(definer.__dict__[name]), "__get__")
    given = len(definer.__dict__[name].__defaults__ or ())
    return name in _CONVERTED or code.co_argcount - given <= 1


def _is_known(kind: type) -> bool:
    root = package(kind)
    # What has no module of its own is said to be built in, and a capsule holds anything.
    own = root == "builtins" and (
        (kind.__flags__ & _HEAP and kind.__name__ not in _BUILT_IN_NAMES)
        or kind.__name__ == "PyCapsule"
    )
    known = root in _EAGER or root in sys.stdlib_module_names
    return known and not _is_deferred(kind) and not own


def _is_deferred(kind: type) -> bool:
    root = package(kind)
    named = kind.__name__ in _LAZY_CLASSES.get(root, ())
    return named or str(kind.__module__).startswith(_DEFERRED.get(root, ("?",)))


_BUILT_IN_NAMES = set(vars(sys.modules["builtins"]))


def package(kind: type) -> str:
    """Return the top-level package that a class says it is of."""
    return str(kind.__dict__.get("__module__") or kind.__module__).partition(".")[0]


def _is_of_python(kind: type) -> bool:
    """Say whether a class is one of Python's own, written in C."""
    return package(kind) in sys.stdlib_module_names and not kind.__flags__ & _HEAP


def _is_opaque(kind: type) -> bool:
    """Say whether a class keeps something where Python cannot see it, and is not known."""
    if kind.__name__ in _WHOLE and package(kind) == "builtins":
        return False
    return any(not _is_pythons(base) and not _is_known(base) for base in kind.__mro__)


def _is_pythons(kind: type) -> bool:
    """Say whether a class adds to its base no more memory than its slots take.

    A class written in another language keeps its state in the rest.
    """
    base = kind.__base__
    if base is None:
        return True
    own = kind.__dict__
    slots = sum(type(member) is _SLOT for member in own.values())
    slots += ("__dict__" in own) + ("__weakref__" in own)
    word = tuple.__itemsize__
    return kind.__basicsize__ - base.__basicsize__ <= slots * word


def is_elsewhere(value: "Any", framework: str) -> bool:
    """Say whether an array is on a device of which nobody here knows how to wait."""
    return framework == "torch" and value.device.type not in {"cpu", "cuda"}


def _objects_of(value: "Any", kind: type) -> "list[Any]":
    """Return the objects in a table of pandas, which keeps them where Python cannot see."""
    if _has(kind, "dtypes") and _has(kind, "items") and _has(kind, "columns"):
        return [column for _, column in value.items()]
    of_objects = getattr(getattr(value, "dtype", None), "hasobject", False)
    return [value.to_numpy()] if of_objects and _has(kind, "to_numpy") else []


_LEFT_OUT = ("frame", "traceback", "code")


class Shape:
    """Properties of a class's values, found out once in a walk: frameworks may arrive later."""

    def __init__(self, kind: type) -> None:
        """Look at the class."""
        self.is_plain = kind in PLAIN
        self.is_skipped = issubclass(kind, type) or kind is type(sys)
        self.container: Any = None
        self.framework: str | None = None
        if self.is_plain or self.is_skipped:
            return
        bases = (dict, *_containers())
        self.container = next((base for base in bases if issubclass(kind, base)), None)
        self.framework = _array_framework(kind)
        partial = getattr(sys.modules.get("functools"), "partial", None)
        self.is_partial = partial is not None and issubclass(kind, partial)
        # JAX's own is a tree of its arguments.
        self.is_tree = self.is_partial and package(kind) == "jax"
        self.is_function = self.is_partial or kind in {FUNCTION, METHOD, BUILT_IN}
        self.is_of_python = _is_of_python(kind)
        self.is_table = any(package(base) == "pandas" for base in kind.__mro__)
        self.has_attributes = self.framework is None and package(kind) != "logging"
        self.is_callable = any("__call__" in base.__dict__ for base in kind.__mro__)
        set_slots = [
            member
            for base in kind.__mro__
            if "__slots__" in base.__dict__
            for member in base.__dict__.values()
            if type(member) is _SLOT
        ]
        self.slots: tuple[Any, ...] = tuple(set_slots)
        self._kind = kind
        self._lazy: dict[bool, bool] = {}
        self._computing: tuple[str | None] | None = None
        self._opaque: bool | None = None

    def is_lazy(self, *, inner: bool) -> bool:
        """Say whether its values are computed only later, or are handles of what runs."""
        if inner not in self._lazy:
            self._lazy[inner] = _is_lazy(self._kind, inner=inner)
        return self._lazy[inner]

    def is_opaque(self) -> bool:
        """Say whether its values keep something where Python cannot see it, and are not known."""
        if self._opaque is None:
            self._opaque = _is_opaque(self._kind)
        return self._opaque

    def computing(self, value: "Any") -> "str | None":
        """Return the method by which a value of somebody else's class may compute when asked."""
        if self._computing is None:
            self._computing = (_computing(self._kind),)
        (name,) = self._computing
        # A property that is kept is there once it was computed.
        return None if name is None or name in (own_names(value) or ()) else name

    def items(self, value: "Any") -> "list[Any]":
        """Return the items of a container, of a dictionary its keys as well."""
        if self.container is dict:
            return [*dict.keys(value), *dict.values(value)]
        return list(self.container.__iter__(value))

    def inner_objects(self, value: "Any") -> "list[Any]":
        """Return what an object keeps where Python cannot see it, as far as that can be asked."""
        if self.is_of_python:
            import gc

            found = gc.get_referents(value)
            return [one for one in found if type(one).__name__ not in _LEFT_OUT]
        return _objects_of(value, self._kind) if self.is_table else []

    def captured(self, value: "Any") -> "list[Any]":
        """Return what a function has with it."""
        if self._kind is METHOD:
            return [value.__self__, value.__func__]
        if self._kind is BUILT_IN:
            return [value.__self__]
        if self.is_partial:
            return [value.func, value.args, value.keywords]
        found = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        for cell in value.__closure__ or ():
            try:
                found.append(cell.cell_contents)
            except ValueError:
                continue
        return found

    def set_slots(self, value: "Any") -> "list[tuple[Any, Any]]":
        """Return an object's slots that are set, and what they hold."""
        found = []
        for member in self.slots:
            try:
                found.append((member, member.__get__(value, type(value))))
            except AttributeError:
                continue
        return found


class Walk:
    """A walk through all that is inside a value, into each object once; it runs no code of theirs.

    With each thing goes how it is held, as the walk has it.
    """

    def __init__(self, value: "Any", held: "Any") -> None:
        """Look into the value."""
        self._shapes: dict[type, Shape] = {}
        self._seen: dict[int, Any] = {}  # kept, so that nothing else gets its number
        self._left: list[tuple[Any, Any]] = [(value, held)]
        while self._left:
            self._look(*self._left.pop())

    def _look(self, value: "Any", held: "Any") -> None:
        kind = type(value)
        shape = self._shapes.get(kind)
        if shape is None:
            shape = self._shapes[kind] = Shape(kind)
        if shape.is_plain:
            return self._plain(value, held)
        if shape.is_skipped or id(value) in self._seen:
            return None
        self._seen[id(value)] = value
        if shape.container is not None:
            self._items(value, shape, held)
        elif shape.framework is not None:
            self._array(value, shape, held)
        elif shape.is_function:
            self._function(value, shape, held)
        else:
            self._object(value, shape, held)
        return self._attributes(value, shape, held) if shape.has_attributes else None

    def _plain(self, value: "Any", held: "Any") -> None:
        """Note a value that is whole as it stands."""

    def _items(self, value: "Any", shape: Shape, held: "Any") -> None:
        """Go on with the items of a container."""
        raise NotImplementedError

    _array = _function = _object = _attributes = _items


def own_names(value: "Any") -> "dict[str, Any] | None":
    """Return an object's ``__dict__``; ``None``: it has none."""
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return own if type(own) is dict else None
