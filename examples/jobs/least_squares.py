"""Least squares by 50 steps of gradient descent, n rows of 20 numbers: n from 100 to 100,000.

    coldwarm bench least_squares.py:numpy least_squares.py:numba least_squares.py:torch \
        least_squares.py:torch_compiled least_squares.py:jax least_squares.py:jax_eager \
        --sweep n=100:100000 --input n=n

Two products of a matrix with a vector in each step. In PyTorch a step is compiled, and the loop
stays in Python; JAX compiles the loop. Numba uses one thread.
"""

STEPS = 50
RATE = 0.1
FEATURES = 20


def numpy(n):
    """Products of whole arrays, a loop in Python."""
    import numpy as np

    return _loop(_step, np.zeros), _rows(n)


def numba(n):
    """One pass over the rows in each step; ``fastmath`` allows sums in any order."""
    import numba
    import numpy as np

    rate, zero = np.float32(RATE), np.float32(0)

    @numba.njit(fastmath=True)
    def fit(x, y):
        rows, features = x.shape
        w = np.zeros(features, x.dtype)
        for _ in range(STEPS):
            slope = np.zeros_like(w)
            for i in range(rows):
                error = zero
                for j in range(features):
                    error += x[i, j] * w[j]
                error -= y[i]
                for j in range(features):
                    slope[j] += error * x[i, j]
            w -= rate / np.float32(rows) * slope
        return w

    return fit, _rows(n)


def torch(n):
    """Products of whole tensors, a loop in Python."""
    import torch

    return _loop(_step, torch.zeros), tuple(map(torch.from_numpy, _rows(n)))


def torch_compiled(n):
    """The same loop around a compiled step."""
    import torch

    return _loop(torch.compile(_step), torch.zeros), tuple(map(torch.from_numpy, _rows(n)))


def jax(n):
    """Products of whole arrays; steps and loop are one program."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def fit(x, y):
        start = jnp.zeros(FEATURES, x.dtype)
        return jax.lax.fori_loop(0, STEPS, lambda _, w: _step(w, x, y), start)

    return fit, tuple(map(jnp.asarray, _rows(n)))


def jax_eager(n):
    """The same step, one operation after the other, and a loop in Python."""
    import jax.numpy as jnp

    return _loop(_step, jnp.zeros), tuple(map(jnp.asarray, _rows(n)))


def _step(w, x, y):
    return w - RATE / len(y) * ((x @ w - y) @ x)


def _loop(step, zeros):
    def fit(x, y):
        w = zeros(FEATURES, dtype=x.dtype)
        for _ in range(STEPS):
            w = step(w, x, y)
        return w

    return fit


def _rows(n):
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, FEATURES))
    y = x @ rng.standard_normal(FEATURES) + rng.standard_normal(n)
    return x.astype("float32"), y.astype("float32")
