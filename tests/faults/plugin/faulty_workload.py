"""A workload of no size, for candidates that misbehave."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np

NAME = "small"
SIZES = (8,)
SIZE_MEANING = "n of an n×n matrix"
DTYPES = ("f32",)
TOLERANCE = {"f32": 1e-5}
LAYOUT = "one C-contiguous n×n array"
BASELINE = "numpy"


def inputs(rng: "np.random.Generator", size: int, dtype: str) -> "list[np.ndarray[Any, Any]]":
    """Return the matrix."""
    return [rng.random((size, size)).astype(dtype)]


def reference(array: "np.ndarray[Any, Any]") -> "list[np.ndarray[Any, Any]]":
    """Return the answer."""
    return [array * 2 + 1]


def for_numpy(wrap: "Callable[..., Any]") -> "Any":
    """Return the candidate of NumPy and of everything that pretends to be it."""
    return wrap(lambda array: array * 2 + 1)
