"""Starts of a real compiler: the first call of ``units_N`` compiles N functions with Numba.

Importing Numba, and its first function, take as long as many of the others, so that 12 in place of
10 make a first result about 10 % later; how much exactly is measured apart. All functions return
the same numbers.
"""

from collections.abc import Callable

import numba
import numpy as np

_compiled: dict[int, list[Callable[[np.ndarray], float]]] = {}


def units_10(x: np.ndarray) -> np.ndarray:
    """Compile 10 functions on the first call."""
    return _call(x, 10)


def units_12(x: np.ndarray) -> np.ndarray:
    """Compile 12 functions on the first call."""
    return _call(x, 12)


def _call(x: np.ndarray, functions: int) -> np.ndarray:
    if functions not in _compiled:
        _compiled[functions] = [_total(power) for power in range(functions)]
        for total in _compiled[functions]:
            total(x)
    return x + 1.0


def _total(power: int) -> Callable[[np.ndarray], float]:
    """Return a function of its own: each is compiled for itself."""

    def total(x: np.ndarray) -> float:
        found = 0.0
        for at in range(len(x)):
            found += x[at] ** power
        return found

    compiled: Callable[[np.ndarray], float] = numba.njit(total)
    return compiled
