"""A workload whose reference answer cannot be computed."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np

NAME = "no_reference"
SIZES = (8,)
SIZE_MEANING = "n of a vector"
DTYPES = ("f32",)
TOLERANCE = {"f32": 1e-5}
LAYOUT = "one vector"
BASELINE = "numpy"


def inputs(rng: "np.random.Generator", size: int, dtype: str) -> "list[np.ndarray[Any, Any]]":
    """Return the vector."""
    return [rng.random(size).astype(dtype)]


def reference(*_arrays: "np.ndarray[Any, Any]") -> "list[np.ndarray[Any, Any]]":
    """Fail.

    Raises:
        ArithmeticError: always.
    """
    text = "no answer on purpose"
    raise ArithmeticError(text)


def for_numpy(wrap: "Callable[..., Any]") -> "Any":
    """Return the candidate."""
    return wrap(lambda array: array + 1)
