"""The inputs of a job: the same on every backend, and for the reference.

A workload makes them in a type that NumPy has. For bfloat16, which NumPy has not, they are made
in float32 and rounded here to values that bfloat16 can hold: placing them loses nothing then, so
that the reference in float64 answers for the very numbers a candidate gets.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy as np

_DROPPED_BITS = 16
"""By how many bits of its fraction bfloat16 is shorter than float32."""


def make(workload: "Any", job: "Mapping[str, Any]") -> "list[np.ndarray[Any, Any]]":
    """Return the host arrays that a job's seed, size and dtype stand for.

    A user's own function has its own arguments, of any type, already placed.
    """
    if job.get("function") is not None:
        own: list[Any] = workload.made(job["seed"])
        return own
    from numpy.random import default_rng

    rng = default_rng(job["seed"])
    arrays: list[np.ndarray[Any, Any]] = workload.inputs(rng, job["size"], job["numpy_dtype"])
    return [rounded(array) for array in arrays] if job.get("dtype") == "bf16" else arrays


def rounded(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Return finite float32 numbers rounded to bfloat16, a tie to the even; others as they are.

    The result is float32 still: the upper half of its bits is the bfloat16 number, the lower
    half is zero.
    """
    if array.dtype.name != "float32":
        return array
    bits = array.view("uint32")
    last_kept = (bits >> _DROPPED_BITS) & 1
    below_half = (1 << (_DROPPED_BITS - 1)) - 1
    kept: np.ndarray[Any, Any] = ((bits + below_half + last_kept) >> _DROPPED_BITS) << _DROPPED_BITS
    return kept.view("float32")
