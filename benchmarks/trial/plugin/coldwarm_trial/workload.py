"""The job of a trial: its subject does the units of the side that asks.

What it stands for: nothing but itself.

What is computed: what the subject computes, whatever the units.

What to look at: two backends that do the same units are equally fast.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np

    Function = Callable[..., Any]
    Wrap = Callable[[Function], Function]

NAME = "trial"
SIZES = (1024,)
SIZE_MEANING = "elements of one vector"
DTYPES = ("f64",)
LAYOUT = "one contiguous vector"
BASELINE = "trial_a"
TOLERANCE = {"f64": 1e-8}


def inputs(rng: "np.random.Generator", size: int, dtype: str) -> "list[np.ndarray[Any, Any]]":
    """Return one vector of standard normal numbers."""
    return [rng.standard_normal(size)]


def reference(*arrays: "np.ndarray[Any, Any]") -> "list[np.ndarray[Any, Any]]":
    """Return what the subject computes, in another way."""
    import numpy as np

    (x,) = arrays
    if "start" in os.environ["TRIAL_FILE"]:
        return [x + 1.0]
    y = x
    for _ in range(100):
        y = np.cos(x + y / 2)
    return [y]


def for_trial_a(wrap: "Wrap") -> "Function":
    """Build side A."""
    return wrap(_side("A"))


def for_trial_b(wrap: "Wrap") -> "Function":
    """Build side B."""
    return wrap(_side("B"))


def _side(name: str) -> "Function":
    units = os.environ[f"TRIAL_{name}"]
    function: Function = getattr(sys.modules["trial_subject"], f"units_{units}")
    return function
