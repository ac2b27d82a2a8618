"""What the trials measure: a NumPy function of about 0.3 ms, and the same with 5 % more work.

Both are given the same array and return the same number, so that a gate on answers lets them
pass. Nothing in them is parallel: 64 KiB stay in a core's own cache, and no BLAS is called.
"""

import numpy as np

LENGTH = 8192
UNITS = 20


def base(x: np.ndarray) -> np.ndarray:
    """Do 20 units of work, and return the last one's result."""
    return _work(x, UNITS)


def more(x: np.ndarray) -> np.ndarray:
    """Do 21 units of work, 5 % more, and return the same as ``base``."""
    return _work(x, UNITS + 1)


def _work(x: np.ndarray, units: int) -> np.ndarray:
    out = x[:0]
    for _ in range(units):
        out = np.sqrt(x * x + 1.0).sum(keepdims=True)
    return out
