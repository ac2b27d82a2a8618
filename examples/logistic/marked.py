"""Three ways to one answer in one file: ``coldwarm bench marked.py`` finds them itself."""

import numpy as np

import coldwarm

INPUTS = {"x": "f64[400,400]"}


@coldwarm.workload(inputs=INPUTS, reference=True)
def by_loop(x: np.ndarray) -> np.ndarray:
    """Return the distance of every row from the mean row, one row at a time."""
    mean = x.mean(axis=0)
    return np.array([np.sqrt(((row - mean) ** 2).sum()) for row in x])


@coldwarm.workload
def by_axis(x: np.ndarray) -> np.ndarray:
    """Return the same, all rows at once."""
    return np.sqrt(((x - x.mean(axis=0)) ** 2).sum(axis=1))


@coldwarm.workload
def by_einsum(x: np.ndarray) -> np.ndarray:
    """Return the same, without an array of squares."""
    away = x - x.mean(axis=0)
    return np.sqrt(np.einsum("ij,ij->i", away, away))
