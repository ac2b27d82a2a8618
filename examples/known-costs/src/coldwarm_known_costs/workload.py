"""One added to each element, in a known time.

What it stands for: nothing but itself. A backend that takes a known time for each step needs a
job to do, and the job needs an answer that can be checked.

What is computed: ``x + 1`` for a vector of standard normal numbers.

What to look at: under the ``known_costs`` backend a steady call takes 1 µs for each element, so
the size is the duration of a call in microseconds. Size 50 is short enough to be batched. What
the report says should be what the plug-in's README says.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np

    Function = Callable[..., Any]
    Wrap = Callable[[Function], Function]

NAME = "known_costs"
SIZES = (50, 2000)
SIZE_MEANING = "elements of one vector, and µs of a call under known_costs"
DTYPES = ("f32",)
LAYOUT = "one contiguous vector"
BASELINE = "numpy"

# The sum of two float32 numbers is rounded once: half of 2**-23, of the larger one.
TOLERANCE = {"f32": 1e-6}


def inputs(rng: "np.random.Generator", size: int, dtype: str) -> "list[np.ndarray[Any, Any]]":
    """Return one vector of standard normal numbers."""
    return [rng.standard_normal(size).astype(dtype)]


def reference(*arrays: "np.ndarray[Any, Any]") -> "list[np.ndarray[Any, Any]]":
    """Return the answer in float64; the arrays have been cast already."""
    (x,) = arrays
    return [x + 1.0]


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate, with which the other is compared."""
    return wrap(_add_one)


def for_known_costs(wrap: "Wrap") -> "Function":
    """Build the candidate of the ``known_costs`` framework: the same; its costs are in ``wrap``."""
    return wrap(_add_one)


def _add_one(x: "Any") -> "Any":
    return x + 1
