"""Fifty steps of gradient descent for least squares, n rows of 20 numbers.

Each step is w -= rate * x.T @ (x @ w - y) / n. NumPy, torch and un-jitted JAX
loop in Python; torch.compile compiles the step; JAX has the loop inside one
jit; Numba makes one pass over the rows in each step.
"""

import numpy as np
from timing import run

COLUMNS = 20
STEPS = 50
RATE = 0.1


def inputs(n):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, COLUMNS), dtype=np.float32)
    truth = rng.standard_normal(COLUMNS, dtype=np.float32)
    y = x @ truth + np.float32(0.1) * rng.standard_normal(n, dtype=np.float32)
    return [x, y, np.zeros(COLUMNS, dtype=np.float32)]


def step(x, y, w):
    return w - (RATE / x.shape[0]) * (x.T @ (x @ w - y))


def loop_of(step):
    def descend(x, y, w):
        for _ in range(STEPS):
            w = step(x, y, w)
        return w

    return descend


def build_numpy():
    return loop_of(step)


build_torch = build_jax_eager = build_numpy  # written alike


def build_numba():
    from numba import njit

    @njit(fastmath=True)
    def descend(x, y, w):
        rows, columns = x.shape
        w = w.copy()
        gradient = np.empty_like(w)
        scale = np.float32(RATE / rows)
        for _ in range(STEPS):
            gradient[:] = np.float32(0)
            for i in range(rows):
                residual = -y[i]
                for j in range(columns):
                    residual += x[i, j] * w[j]
                for j in range(columns):
                    gradient[j] += residual * x[i, j]
            for j in range(columns):
                w[j] -= scale * gradient[j]
        return w

    return descend


def build_torch_compiled():
    import torch

    return loop_of(torch.compile(step))


def build_jax():
    import jax
    from jax import lax

    @jax.jit
    def descend(x, y, w):
        return lax.fori_loop(0, STEPS, lambda _, w: step(x, y, w), w)

    return descend


if __name__ == "__main__":
    run(inputs, globals())
