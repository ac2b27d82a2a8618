"""Fifty sweeps over n x n points: each becomes the mean of its four neighbours.

The edges keep their values. NumPy and torch update one array from shifted
views; torch.compile compiles a sweep; JAX sets the interior with
u.at[1:-1, 1:-1].set, its loop inside one jit; Numba loops from one array into
another.
"""

import numpy as np
from timing import run

SWEEPS = 50


def inputs(n):
    rng = np.random.default_rng(0)
    return [rng.random((n, n), dtype=np.float32)]


def mean_of_neighbours(u):
    return 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def loop_of(sweep):
    def relax(u):
        for _ in range(SWEEPS):
            u = sweep(u)
        return u

    return relax


def build_numpy():
    def relax(u):
        u = u.copy()
        for _ in range(SWEEPS):
            u[1:-1, 1:-1] = mean_of_neighbours(u)
        return u

    return relax


def build_numba():
    from numba import njit

    quarter = np.float32(0.25)

    @njit
    def relax(u):
        old, new = u.copy(), u.copy()
        rows, columns = u.shape
        for _ in range(SWEEPS):
            for i in range(1, rows - 1):
                for j in range(1, columns - 1):
                    new[i, j] = quarter * (
                        old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1]
                    )
            old, new = new, old
        return old

    return relax


def build_torch():
    def relax(u):
        u = u.clone()
        for _ in range(SWEEPS):
            u[1:-1, 1:-1] = mean_of_neighbours(u)
        return u

    return relax


def build_torch_compiled():
    import torch

    @torch.compile
    def sweep(u):
        new = u.clone()
        new[1:-1, 1:-1] = mean_of_neighbours(u)
        return new

    return loop_of(sweep)


def jax_sweep(u):
    return u.at[1:-1, 1:-1].set(mean_of_neighbours(u))


def build_jax():
    import jax
    from jax import lax

    @jax.jit
    def relax(u):
        return lax.fori_loop(0, SWEEPS, lambda _, u: jax_sweep(u), u)

    return relax


def build_jax_eager():
    return loop_of(jax_sweep)


if __name__ == "__main__":
    run(inputs, globals())
