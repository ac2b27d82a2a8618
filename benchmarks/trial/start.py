"""Starts of known cost, for cold trials: the first call does work that later ones do not.

It stands for a compiler that is busy for about a third of a second: a fixed number of steps of
a key derivation, so that a busy machine slows it down as it would slow a compiler. ``more`` takes
10 % more steps. Both return the same number.
"""

import hashlib

import numpy as np

STEPS = 20
UNIT = 70_000
"""Rounds of the key derivation in one step: about 16 ms."""

_started: set[int] = set()


def base(x: np.ndarray) -> np.ndarray:
    """Take 20 steps on the first call, then only add."""
    return _call(x, STEPS)


def more(x: np.ndarray) -> np.ndarray:
    """Take 22 steps on the first call, then only add."""
    return _call(x, STEPS + STEPS // 10)


def _call(x: np.ndarray, steps: int) -> np.ndarray:
    if steps not in _started:
        _started.add(steps)
        for _ in range(steps):
            hashlib.pbkdf2_hmac("sha256", b"key", b"salt", UNIT)
    return x + 1.0
