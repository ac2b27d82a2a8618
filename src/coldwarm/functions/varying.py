"""The arguments of a call with other data: of the same types and shapes, so that any call takes it.

What was declared is drawn anew (``drawn``). Of what was given nobody knows what it must be, so it
is changed in a way that keeps what most programs need: numbers with a point keep their
signs, order, zeros, symmetry and equalities, by a map that is no mere scaling; arrays of whole
numbers keep their range, and those in order stay so; single whole numbers, which may be sizes,
become smaller, and only where nothing else in the argument is changed. The same number gives the
same data in every process.
"""

import sys

from coldwarm.functions import kinds, values
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    import numpy as np

    from coldwarm.functions.arguments import Call

_STEP = 1 / 16
"""By what share, at most, a number with a point is changed."""
_FEWEST_OF_DATA = 16
"""From how many whole numbers on a list of them is data, as an array is."""
_MOST_OBJECTS = 100_000
_DIGITS, _VOWELS, _OTHERS = "123456789", "aeiou", "bcdfghjklmnpqrstvwxyz"
_KEPT_WORDS = ("true", "false", "null", "none", "nan", "inf")
"""Words that stand for values wherever texts are read."""
_SHORTEST_TEXT = 32
"""From how many characters on a text without a space is data; below it may be a name."""
_WHOLE = "iu"
_POINTS = "fc"


class Other:
    """The arguments of a call with other data, in the order of its ``flat``."""

    def __init__(
        self,
        usual: "Sequence[Any]",
        flat: "Sequence[Any]",
        names: "Sequence[str]",
        order: "Sequence[int] | None" = None,
    ) -> None:
        """See which are others: what could not be changed is the usual object.

        ``order``: where the inputs are among them, as ``arguments.order`` has it.
        """
        self.usual, self.flat, self.names = tuple(usual), tuple(flat), tuple(names)
        pairs = enumerate(zip(usual, flat, strict=True))
        self.places = [place for place, (old, new) in pairs if old is not new]
        self.order = list(range(len(flat)) if order is None else order)

    def named(self, places: "Sequence[int]") -> "list[str]":
        """Return what the arguments in these places are called."""
        return [self.names[place] for place in places]

    @property
    def unchanged(self) -> "list[str]":
        """The arguments that could not be given other data, by name."""
        return self.named([place for place in range(len(self.names)) if place not in self.places])

    def only(self, places: "Sequence[int]") -> "tuple[Any, ...]":
        """Return the arguments with other data in these places alone."""
        pairs = enumerate(zip(self.usual, self.flat, strict=True))
        return tuple(new if place in places else old for place, (old, new) in pairs)


def given(call: "Call", number: float, names: "Sequence[str]") -> Other:
    """Return arguments that were given, with other data; each unchanged one is the same object."""
    return Other(call.flat, [_varied(one, number) for one in call.flat], names)


def drawn(old: "Mapping[str, Any]", new: "Mapping[str, Any]", number: float) -> "dict[str, Any]":
    """Return inputs that were drawn anew; those that came out the same are varied."""
    return {
        name: _varied(one, number) if _alike(one, new[name]) else new[name]
        for name, one in old.items()
    }


def _alike(one: "Any", other: "Any") -> bool:
    return values.digest([one]) == values.digest([other])


def names_of(function: "Any", call: "Call") -> "list[str]":
    """Return what a function calls its arguments; by their place where it does not say."""
    from coldwarm.functions import target

    try:
        known = target.CallSignatureReader(function).positions
    except Exception:  # noqa: BLE001 - whatever a signature of an unknown callable raises
        known = []
    places = range(len(call.positional))
    ordinal = [known[n] if n < len(known) else f"argument {n + 1}" for n in places]
    return [*ordinal, *call.named]


def _varied(value: "Any", number: float) -> "Any":
    """Return a value with other data, or the value itself where nothing in it can be another.

    ``number``: between 0 and 1; another one gives other data.
    """
    for counts in (False, True):
        maker = _Maker(number, counts=counts)
        made = maker.made(value)
        if maker.changed:
            return made
    return value


class _Maker:
    """Makes other values of values, all in the same way."""

    def __init__(self, number: float, *, counts: bool) -> None:
        self.number = number
        self.share = _STEP * (0.1 + number) / 1.1
        self.counts = counts
        """Whether whole numbers are changed, too."""
        self.changed = False

    def made(self, value: "Any") -> "Any":
        """Return another value of the same kind, or a copy."""
        kind = type(value)
        if kind in {float, complex, int, str}:
            return self._new(value, self._scalar(value, kind))
        if values.is_array(value):
            return self._array(value)
        if kind in {list, dict, set, frozenset} or isinstance(value, tuple):
            return self._container(value, kind)
        return self._object(value)

    def _scalar(self, value: "Any", kind: type) -> "Any":
        if kind is str:
            return self._text(value)
        if kind is int:
            return self._fewer(value) if self.counts else value
        return value * (1 + self.share)

    def _container(self, value: "Any", kind: "Any") -> "Any":
        if kind is dict:
            return {key: self.made(one) for key, one in value.items()}
        if kind in {set, frozenset}:
            return self._new(value, kind(map(self.made, value)))
        return self._sequence(value)

    def _new(self, old: "Any", new: "Any") -> "Any":
        if new != old and new == new:  # noqa: PLR0124 - a NaN is not itself
            self.changed = True
            return new
        return old

    def _fewer(self, count: int) -> int:
        if count <= 1:
            return count
        return max(1, count - 1 - int(self.number * max(3, count // 8)))

    def _sequence(self, value: "Any") -> "Any":
        if len(value) >= _FEWEST_OF_DATA and all(type(one) is int for one in value):
            made = self._whole_list(value)
        else:
            made = [self.made(one) for one in value]
        return made if type(value) is list else tuple.__new__(type(value), made)

    def _whole_list(self, value: "Any") -> "list[Any]":
        import numpy as np

        try:
            other = self._numbers(np.array(value, "i8"))
        except OverflowError:
            return list(map(self.made, value))
        self.changed = self.changed or other is not None
        return list(value) if other is None else other.tolist()

    def _text(self, given: str) -> str:
        """Return a text with other letters and digits in the same places; a short name as it is.

        What may be the path of a file is left, too.
        """
        import re

        spaced = any(map(str.isspace, given))
        place = "://" in given or (not spaced and ("/" in given or "\\" in given))
        if place or not (spaced or len(given) >= _SHORTEST_TEXT):
            return given
        table: dict[int, int] = {}
        for some in (_DIGITS, _VOWELS, _OTHERS, _VOWELS.upper(), _OTHERS.upper()):
            by = 1 + int(self.number * (len(some) - 1))
            table.update(zip(map(ord, some), map(ord, some[by:] + some[:by]), strict=True))
        parts = re.split(r"(\w+)", given)
        return "".join(one if one.lower() in _KEPT_WORDS else one.translate(table) for one in parts)

    def _array(self, array: "Any") -> "Any":
        same = values.duplicate(array)
        if values.is_torch(array):
            return self._of_torch(array, same)
        if values.is_jax(array):
            return self._of_jax(array, same)
        import numpy as np

        host = np.asarray(array)
        other = self._numbers(host)
        if other is None:
            return same
        self.changed = True
        if isinstance(array, np.generic):
            return other[()]
        if type(array) is np.ndarray and not array.dtype.hasobject:
            return values.placed_like(array, other)
        same.flags.writeable = True
        same[...] = other  # which keeps its class
        return same

    def _of_torch(self, array: "Any", same: "Any") -> "Any":
        torch = sys.modules["torch"]
        host = array.detach().to("cpu").resolve_conj().resolve_neg()
        exact = host.dtype.is_floating_point and host.element_size() < 4  # noqa: PLR2004 - NumPy lacks some of these
        other = self._numbers((host.float() if exact else host).numpy())
        if other is None:
            return same
        self.changed = True
        with torch.no_grad():
            same.copy_(torch.from_numpy(other))
        return same

    def _of_jax(self, array: "Any", same: "Any") -> "Any":
        import numpy as np

        jax = sys.modules["jax"]
        if len(array.devices()) > 1:
            return same
        # One that was bound to its device would be another argument to JAX.
        device = next(iter(array.devices())) if getattr(array, "_committed", False) else None
        key = jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key)
        host = np.asarray(jax.random.key_data(array) if key else array)
        other = self._numbers(host)
        if other is None:
            return same
        self.changed = True
        if getattr(array, "weak_type", False) and not array.ndim and not key:
            return jax.device_put(other.item(), device).block_until_ready()
        made = jax.device_put(other, device).block_until_ready()
        return jax.random.wrap_key_data(made, impl=jax.random.key_impl(array)) if key else made

    def _numbers(self, host: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any] | None":
        """Return other numbers of the same type and shape; ``None``: there are none."""
        import numpy as np

        kind = host.dtype.kind
        if not host.size:
            return None
        if kind in _POINTS or host.dtype.name in {"bfloat16", "float8_e4m3fn", "float8_e5m2"}:
            other = self._points(host)
        elif kind in _WHOLE and not host.ndim:
            fewer = self._fewer(int(host)) if self.counts else int(host)
            other = np.array(fewer, host.dtype)
        elif kind in _WHOLE:
            other = self._whole(host)
        elif kind == "b" and host.ndim:
            first = 1 + int(self.number * len(host))
            turned = (np.roll(host, first + n, axis=0) for n in range(len(host)))
            other = next((one for one in turned if not np.array_equal(one, host)), host)
        elif kind == "M":
            other = host + np.array(1 + int(self.number * 9), host.dtype.str.replace("M", "m"))
        elif host.dtype.names or kind == "O":
            other = self._parts(host)
        else:
            return None
        return None if np.array_equal(host, other, equal_nan=kind in _POINTS) else other

    def _points(self, host: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        """Return each number a little further from 0, the larger ones by a larger share."""
        import numpy as np

        wide = host.astype(np.result_type(host.dtype, "f8") if host.dtype.kind in "fc" else "f8")
        size = np.abs(wide)
        most = np.max(size, where=np.isfinite(size), initial=0.0)
        with np.errstate(all="ignore"):
            share = np.where(np.isfinite(size), size / (size + most) if most else 0.0, 0.0)
            other: np.ndarray[Any, Any] = (wide * (1 + self.share * (0.5 + share))).astype(
                host.dtype
            )
        return np.where(np.isfinite(size) & np.isfinite(other.astype(wide.dtype)), other, host)

    def _whole(self, host: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        """Return whole numbers mirrored in their range and in their order, which keeps both.

        Those that are the same then become smaller, where nothing else can be another.
        """
        import numpy as np

        low, high = host.min(), host.max()
        other: np.ndarray[Any, Any] = high - (host[::-1] - low)
        if self.counts and np.array_equal(host, other):
            fewer = 1 + int(self.number * max(3, (int(high) - int(low)) // 8))
            lower = host - host.dtype.type(fewer)
            return np.asarray(np.where(host - low > fewer, lower, low))
        if host.ndim == 1 and len(host) > 1 and not (other[:-1] <= other[1:]).all():
            place = int(self.number * (len(host) - 1))
            other[place : place + 2] = other[place : place + 2][::-1].copy()
        return other

    def _parts(self, host: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        """Return an array of records, or of objects, with other data in what they hold."""
        other = host.copy()
        if host.dtype.names is None:
            flat = other.reshape(-1)
            flat[:] = [self.made(one) for one in host.reshape(-1).tolist()]
            return flat.reshape(host.shape)
        for name in host.dtype.names:
            made = self._numbers(host[name])
            if made is not None:
                other[name] = made
        return other

    def _object(self, value: "Any") -> "Any":
        """Return a copy of an object with other data inside; one that is called as it is."""
        shape = kinds.Shape(type(value))
        if shape.is_plain or shape.is_skipped or shape.is_function or shape.is_callable:
            return value
        of_library = self._of_library(value)
        if of_library is not None:
            return of_library
        same = values.duplicate(value)
        if same is value:
            return value
        old = {id(one) for one in _reached(value)}
        new = [one for one in _reached(same) if id(one) not in old]
        arrays = [one for one in new if values.is_array(one) and hasattr(one, "setflags")]
        whole = {_WHOLE: [], _POINTS: []}  # type: ignore[var-annotated] # lists of arrays
        for one in arrays:
            for some_kinds, some in whole.items():
                if one.dtype.kind in some_kinds and one.ndim and one.flags.writeable:
                    some.append(one)
        for one in whole[_POINTS] or (whole[_WHOLE] if self.counts else []):
            other = self._numbers(one)
            if other is not None:
                one[...] = other
                self.changed = True
        for one in new:
            self._attributes(one)
        return same

    def _attributes(self, value: "Any") -> None:
        for name, one in list((kinds.own_names(value) or {}).items()):
            plain = type(one) in {float, complex, str, int, list, tuple, dict}
            if not (plain or values.is_jax(one) or values.is_torch(one)):
                continue
            try:
                object.__setattr__(value, name, self.made(one))
            except (AttributeError, TypeError):
                continue

    def _of_library(self, value: "Any") -> "Any":
        """Return a table or a generator that its library makes of another; ``None``: it is none."""
        numpy, polars = sys.modules.get("numpy"), sys.modules.get("polars")
        if numpy is not None and isinstance(value, numpy.random.Generator):
            self.changed = True
            return numpy.random.Generator(
                type(value.bit_generator)(seed=1 + int(self.number * 2**31))
            )
        if polars is not None and isinstance(value, (polars.DataFrame, polars.Series)):
            frame = value.to_frame() if isinstance(value, polars.Series) else value
            other = {name: self._column(frame[name]) for name in frame.columns}
            made = polars.DataFrame(other)
            return made.to_series() if isinstance(value, polars.Series) else made
        return None

    def _column(self, column: "Any") -> "Any":
        if column.null_count() or not column.dtype.is_numeric():
            return column
        if column.dtype.is_integer() and not self.counts:
            return column
        other = self._numbers(column.to_numpy())
        if other is None:
            return column
        self.changed = True
        return type(column)(column.name, other, dtype=column.dtype)


def _reached(value: "Any") -> "Iterator[Any]":
    """Yield what an object holds, however deep, but for code and classes."""
    import gc

    seen: dict[int, Any] = {}
    left = [value]
    while left and len(seen) < _MOST_OBJECTS:
        one = left.pop()
        shape = kinds.Shape(type(one)) if id(one) not in seen else None
        if shape is None or shape.is_plain or shape.is_skipped or shape.is_function:
            continue
        seen[id(one)] = one
        yield one
        left += gc.get_referents(one)
