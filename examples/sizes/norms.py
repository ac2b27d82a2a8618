"""The mean of sqrt(x² + 1), by NumPy and by Numba: which is faster depends on the length."""

import math

import numba
import numpy as np


def by_numpy(x: np.ndarray) -> float:
    """Compute it with three temporary arrays."""
    return float(np.mean(np.sqrt(x * x + 1.0)))


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def by_numba(x: np.ndarray) -> float:
    """Compute it in one loop."""
    total = 0.0
    for value in x:
        total += math.sqrt(value * value + 1.0)
    return total / len(x)
