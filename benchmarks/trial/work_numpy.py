"""Warm work in NumPy, on one thread: ``units_N`` does N units, each y ← cos(x + y/2).

After some sixty units y no longer changes, so that all functions give the same answer, and a gate
on answers lets them pass. What a call does once is less than a thousandth of it: N units take N / M
of what M units take. Its arrays stay in a core's own cache.
"""

import numpy as np


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
    y = x
    for _ in range(units):
        y = np.cos(x + 0.5 * y)
    return y
