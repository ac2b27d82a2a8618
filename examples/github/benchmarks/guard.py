"""What a pull request must not make slower: a start, the calls after it, and what is compiled.

Write functions like these about your own package: `fits` stands for it.
"""

import fits
import numpy as np

_drawn = np.random.default_rng(1)
X, Y = _drawn.standard_normal((2000, 20)), _drawn.standard_normal(2000)
W = np.zeros(20, dtype=np.float32)


def work() -> np.ndarray:
    """Do once what users do all day."""
    return fits.fit(X, Y)


def step() -> np.ndarray:
    """Do once what is compiled."""
    return np.asarray(fits.update(W))
