"""Values and types of arguments, as the journal writes them: of what kind they are. Pure."""

from __future__ import annotations

import re
from typing import Literal

ValueKind = Literal["whole", "number", "sizes", "text", "callable", "object", "values"]
"""Kinds of values of a static argument. ``whole``: it may make a shape; ``text``: texts, none, true
and false, and classes; ``object``: one that is told from others by where it lies; ``values``: one
by what it holds."""
TypeKind = Literal["function", "length", "ndim", "array", "number", "omitted", "other"]
"""How two types of Numba's differ."""

_CALLABLE = (
    "<function ",
    "<bound method ",
    "<built-in ",
    "<PjitFunction",
    "<numpy.ufunc",
    "<ufunc",
    "functools.partial(",
    "CPUDispatcher(",
)
_TEXT = (
    *("'", '"', "b'", 'b"', "True", "False", "None", "absent", "<class ", "dtype("),
    *("str #", "bytes #"),
)
_WHOLE = re.compile(r"(np\.u?int\d*\()?[-+]?\d+\)?")
_NUMBER = re.compile(r"(np\.(float|complex)\d*\(|\()?[-+]?(\d|\.\d|inf|nan)[-+\d.einfaj]*\)?")
_SIZES = re.compile(r"\([-\d, ()]*(\)|…\w*)")
_ENUM = re.compile(r"<\w+\.\w+: ")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")
_ARRAY = re.compile(r"(?:[Aa]rray|readonly array)\((?P<dtype>.*), (?P<ndim>\d+)d, .*\)")
_SHAPED = re.compile(r"(?P<dtype>\w+)\[(?P<sizes>[\d,]*)\]")
_TUPLE = re.compile(r"(?:UniTuple|Tuple)\((.*)\)", re.DOTALL)
_SCALAR = re.compile(r"u?int\d+|float\d+|complex\d+|bool(ean)?")
_NOT_GIVEN = ("omitted(", "none")


def kind_of_values(before: str, now: str) -> ValueKind:
    """Return what the values of an argument are: the later one, unless that is none."""
    given = [one for one in (now, before) if one not in {"", "absent", "None"}]
    return _kind(given[0] if given else "None")


def _kind(value: str) -> ValueKind:
    if value.startswith(_CALLABLE):
        return "callable"
    if _WHOLE.fullmatch(value):
        return "whole"
    if _SIZES.fullmatch(value):
        return "sizes"
    if _NUMBER.fullmatch(value):
        return "number"
    if value.startswith(_TEXT) or _ENUM.match(value):
        return "text"
    return "object" if _ADDRESS.search(value) else "values"


def have_one_rank(before: str, now: str) -> bool:
    """Say whether two arrays, written as ``f32[2,3]``, have as many dimensions."""
    return len(sizes(before)) == len(sizes(now))


def hold_objects(before: str, now: str) -> bool:
    """Say whether two structures hold functions or objects that are told by where they lie."""
    return all(_ADDRESS.search(one) for one in (before, now))


def kind_of_types(before: str, now: str) -> TypeKind:
    """Return how two types of Numba's differ."""
    both = before, now
    if all("CPUDispatcher(" in one or one.startswith("FunctionType[") for one in both):
        return "function"
    if any(one.startswith(_NOT_GIVEN) for one in both):
        return "omitted"
    arrays = [_ARRAY.fullmatch(one) for one in both]
    if arrays[0] and arrays[1]:
        return "array" if arrays[0]["ndim"] == arrays[1]["ndim"] else "ndim"
    if all(_SCALAR.fullmatch(one) for one in both):
        return "number"
    lengths = {tuple_length(one) for one in both}
    return "length" if None not in lengths and len(lengths) > 1 else "other"


def tuple_length(written: str) -> int | None:
    """Return how long a tuple of Numba's is; ``None``: it is none."""
    found = _TUPLE.fullmatch(written)
    if found is None:
        return None
    if written.startswith("Uni"):
        length = found[1].rpartition(" x ")[2]
        return int(length) if length.isdigit() else None  # what is long may have been cut
    depth = 0
    parts = int(bool(found[1].strip()))
    for one in found[1]:
        depth += (one in "([<") - (one in ")]>")
        parts += one == "," and depth == 0
    return parts


def dtype(written: str) -> str:
    """Return the dtype of an array, as it is written; empty: it is none.

    JAX's and PyTorch's are written as ``f32[2,3]``, Numba's as ``array(float32, 2d, C)``.
    """
    found = _ARRAY.fullmatch(written) or _SHAPED.fullmatch(written)
    return found["dtype"] if found is not None else ""


def is_number(written: str) -> bool:
    """Say whether an argument that is no static one was a number: of Python's, or an array."""
    return written.startswith("Python ") or (bool(dtype(written)) and not sizes(written))


def is_dtype_alone(before: str, now: str) -> bool:
    """Say whether two arrays have other numbers in them, and are alike in all else."""
    dtypes = dtype(before), dtype(now)
    if not all(dtypes) or dtypes[0] == dtypes[1]:
        return False
    return before.replace(dtypes[0], "", 1) == now.replace(dtypes[1], "", 1)


def is_laid_out_otherwise(before: str, now: str) -> bool:
    """Say whether an array of Numba's, of the same dtype, lies otherwise or is only read."""
    arrays = [_ARRAY.fullmatch(one) for one in (before, now)]
    return all(arrays) and dtype(before) == dtype(now) and before != now


def sizes(written: str) -> list[int]:
    """Return the sizes of an array that is written as ``f32[2,3]``."""
    found = _SHAPED.fullmatch(written)
    return [int(one) for one in found["sizes"].split(",")] if found and found["sizes"] else []
