"""Warm work compiled by Numba: ``units_N`` does N units, each y ← cos(x + y/2).

After some sixty units y no longer changes: all functions give the same answer. They call one
compiled function, with the number of units as an argument.
"""

from math import cos

import numpy as np
from numba import njit


def units_200(x: np.ndarray) -> np.ndarray:
    """Do 200 units."""
    return _work(x, 200)


def units_205(x: np.ndarray) -> np.ndarray:
    """Do 205 units, 2.5 % more."""
    return _work(x, 205)


def units_206(x: np.ndarray) -> np.ndarray:
    """Do 206 units, 3 % more."""
    return _work(x, 206)


def units_210(x: np.ndarray) -> np.ndarray:
    """Do 210 units, 5 % more."""
    return _work(x, 210)


def units_216(x: np.ndarray) -> np.ndarray:
    """Do 216 units, 8 % more."""
    return _work(x, 216)


def _work(x: np.ndarray, units: int) -> np.ndarray:
    y = x.copy()
    _iterate(x, y, units)
    return y


@njit  # type: ignore[untyped-decorator]
def _iterate(x: np.ndarray, y: np.ndarray, units: int) -> None:
    for _ in range(units):
        for i in range(len(x)):
            y[i] = cos(x[i] + 0.5 * y[i])
