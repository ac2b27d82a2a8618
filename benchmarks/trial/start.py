"""Starts with NumPy: the first call of ``units_N`` takes N steps that later calls do not.

The steps stand for a compiler that is busy for a third of a second: a key derivation, so that a
busy machine slows them as it would slow a compiler. Importing NumPy takes as long as some ten of
them, so that 45 in place of 40 make a first result about 10 % later; how much exactly is measured
apart. All functions return the same numbers.

``python start.py N`` is such a start as a program.
"""

import hashlib
import sys

import numpy as np

ROUNDS = 35_000
"""Of the key derivation in one step: some 8 ms."""

_started: set[int] = set()


def units_40(x: np.ndarray) -> np.ndarray:
    """Take 40 steps on the first call, then only add."""
    return _call(x, 40)


def units_45(x: np.ndarray) -> np.ndarray:
    """Take 45 steps on the first call, then only add."""
    return _call(x, 45)


def _call(x: np.ndarray, steps: int) -> np.ndarray:
    if steps not in _started:
        _started.add(steps)
        for _ in range(steps):
            hashlib.pbkdf2_hmac("sha256", b"key", b"salt", ROUNDS)
    return x + 1.0


if __name__ == "__main__":
    _call(np.zeros(64), int(sys.argv[1]))
