"""What a pull request must not make slower: a start, the calls after it, and what is compiled.

Write functions like these about your own package: `fits` stands for it.
"""

import fits
import numpy as np


def work() -> tuple:
    """Return what users do all day, with its data: calls with other data are tried, too."""
    drawn = np.random.default_rng(1)
    return fits.fit, (drawn.standard_normal((2000, 20)), drawn.standard_normal(2000))


def step() -> tuple:
    """Return what is compiled, and three calls: a change that compiles for each length is seen."""
    return fits.update, ((np.zeros(n, dtype=np.float32),) for n in (20, 24, 28))
