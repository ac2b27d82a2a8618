"""A program that has Numba keep a function."""

import numba
import numpy as np


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def total(x: np.ndarray) -> float:
    found = 0.0
    for one in x:
        found += one
    return found


RESULT = total(np.ones(9))
