"""A factory that works before it returns its step, as many programs do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def make() -> tuple[Callable[[Array], Array], tuple[Array]]:
    """Return a step with a matrix that took a factorisation, and its argument."""
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((500, 500))
    values, vectors = np.linalg.eigh(matrix @ matrix.T)

    def step(x: Array) -> Array:
        return vectors @ (vectors.T @ x / (1.0 + values))

    return step, (rng.standard_normal(500),)
