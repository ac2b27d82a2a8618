"""What changed from call to call: values, types and structures, from their texts. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.doctor.seen import Seen

    Code = tuple[object, ...]


ValueKind = Literal["whole", "number", "sizes", "text", "callable", "object", "values"]
"""Of a static argument. ``whole``: it may make a shape; ``text``: texts, none, true and false, and
classes; ``object``: one that is told from others by where it lies; ``values``: one by what it
holds."""
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
    "'",
    '"',
    "b'",
    'b"',
    "True",
    "False",
    "None",
    "absent",
    "<class ",
    "dtype(",
    "str #",
    "bytes #",
)
_WHOLE = re.compile(r"(np\.u?int\d*\()?[-+]?\d+\)?")
_NUMBER = re.compile(r"(np\.(float|complex)\d*\(|\()?[-+]?(\d|\.\d|inf|nan)[-+\d.einfaj]*\)?")
_SIZES = re.compile(r"\([-\d, ()]*(\)|…\w*)")
_ENUM = re.compile(r"<\w+\.\w+: ")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")
_ARRAY = re.compile(r"(?:[Aa]rray|readonly array)\(.*, (\d+)d, .*\)")
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
    return before.count(",") == now.count(",") and before.endswith("[]") == now.endswith("[]")


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
        return "array" if arrays[0][1] == arrays[1][1] else "ndim"
    if all(_SCALAR.fullmatch(one) for one in both):
        return "number"
    lengths = {_length(one) for one in both}
    return "length" if None not in lengths and len(lengths) > 1 else "other"


def _length(written: str) -> int | None:
    """Return how long a tuple is; ``None``: it is none."""
    found = _TUPLE.fullmatch(written)
    if found is None:
        return None
    if written.startswith("Uni"):
        return int(found[1].rpartition(" x ")[2])
    depth = 0
    parts = int(bool(found[1].strip()))
    for one in found[1]:
        depth += (one in "([<") - (one in ")]>")
        parts += one == "," and depth == 0
    return parts


def code_of(function: Mapping[str, Any]) -> Code:
    """Return what tells a function that was compiled from others: its name, file and line."""
    return function.get("name"), function.get("path"), function.get("line")


def limits_of(seen: Seen) -> dict[Code, Reason]:
    """Return the functions that are compiled no more: as often as PyTorch's limit lets them be."""
    return {
        code_of(row["function"]): because(
            "doctor_gave_up", n_programs=row["limit"], setting=row["setting"]
        )
        for row in seen.of_kind("limit")
    }


def code_of_value(written: str) -> str:
    """Return which words fit an argument whose value is a part of what is compiled."""
    try:
        float(written)
    except ValueError:
        return "doctor_no_tensor"
    return "doctor_number"


def in_guard(
    differing: Sequence[Mapping[str, str]], guard: str | None
) -> Sequence[Mapping[str, str]]:
    """Return those of the differences that PyTorch's failed guard names; all, if it names none.

    A number that is an argument may differ and be no reason: PyTorch makes many of them dynamic.
    """
    named = [one for one in differing if guard and _names(guard, one["argument"])]
    return named or differing


def _names(guard: str, argument: str) -> bool:
    return bool(argument) and bool(re.search(rf"(?<!\w){re.escape(argument)}(?!\w)", guard))
