"""How precise the numbers of an answer are, and how large their errors may be."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    import numpy as np

_TOLERANCES = {
    **dict.fromkeys(("float64", "complex128", "float96", "float128"), 1e-8),
    **dict.fromkeys(("complex192", "complex256"), 1e-8),
    **dict.fromkeys(("float16", "bfloat16"), 1e-2),
}
"""The largest error of a number, by its type; whole numbers and flags must agree exactly."""
TOLERANCE = 1e-4
_LONG = ("float64", "complex128", "float96", "float128", "complex192", "complex256")


def tolerance(dtype: str) -> float:
    """Return the largest error of numbers of a type."""
    if dtype in _TOLERANCES:
        return _TOLERANCES[dtype]
    return TOLERANCE if dtype.startswith(("float", "complex")) else 0.0


def least(dtypes: "Iterable[str]") -> str:
    """Return the least precise of some types; empty: none has a point."""
    return max((one for one in dtypes if tolerance(one)), key=tolerance, default="")


def of_call(
    dtypes: "Sequence[str]",
    arrays: "Sequence[np.ndarray[Any, Any]]",
    given: "Iterable[str]",
    *,
    in_32_bits: bool = False,
) -> str:
    """Return the type whose precision an answer has; empty: it has no numbers with a point.

    Of float64 it may be in name alone: Python's numbers are, also those that were computed in
    float32. That is told by the numbers themselves, by the arguments, and by JAX.

    Args:
        dtypes: The types of what the answer holds.
        arrays: Its numbers, on the host.
        given: The types of the arguments' arrays.
        in_32_bits: Whether JAX has computed something, where nobody has asked it for 64 bits.
    """
    found = least(dtypes)
    if found not in _LONG:
        return found
    shorter = [one for one in given if tolerance(one) > tolerance(found)]
    if shorter:
        return least(shorter)
    return "float32" if in_32_bits or any(map(_is_float32, arrays)) else found


def _is_float32(array: "np.ndarray[Any, Any]") -> bool:
    """Say whether numbers of float64 are those of float32: they need all its digits, and no more.

    Whole numbers and short fractions are the same in both, and tell nothing.
    """
    import numpy as np

    if array.dtype.kind not in "fc" or array.dtype.itemsize < 8:  # noqa: PLR2004 - the bytes of float64
        return False
    parts = array.ravel().view(array.real.dtype)
    numbers = parts[np.isfinite(parts) & (parts != 0)]
    with np.errstate(all="ignore"):
        short = np.array_equal(numbers.astype("float32"), numbers)
    # Of fractions that are drawn, every other one ends with a 1 in the last place.
    digits = np.frexp(numbers)[0] * 2.0**16
    return bool(numbers.size and short and np.any(digits != np.floor(digits)))


def step(dtype: str) -> float:
    """Return the share by which a number of a type is smaller than the next one."""
    if dtype == "bfloat16":
        return 2.0**-7
    import numpy as np

    return float(np.finfo(dtype or "float64").eps)
