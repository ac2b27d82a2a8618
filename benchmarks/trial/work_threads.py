"""Warm work on all threads of BLAS: ``units_N`` does N units, each y ← A y + x with matrices.

A halves what it is multiplied with, so that y soon no longer changes and all functions give the
same answer. Both threads wait for each other in each unit of some eighty
microseconds: what disturbs one of them delays the call. OpenBLAS computes products of up to
100 x 100 numbers in one thread.
"""

import numpy as np

SIZE = 112
_HALVES = np.random.default_rng(0).standard_normal((SIZE, SIZE)) / (4 * SIZE**0.5)


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
        y = _HALVES @ y + x
    return y
