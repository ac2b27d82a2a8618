"""A training step of a network of two layers, each n wide, for 128 rows: n from 8 to 1,024.

    coldwarm bench training.py:numpy training.py:numba training.py:torch \
        training.py:torch_compiled training.py:jax training.py:jax_eager \
        --sweep n=8:1024 --input n=n

A call returns the loss and the four arrays of weights after one step down the gradient. For NumPy
and Numba the gradient is derived by hand. Numba calls SciPy's library for its products.
"""

ROWS = 128
RATE = 0.05


def numpy(n):
    """Whole arrays, with the gradient by hand."""
    import numpy as np

    return _step_by_hand(np, RATE), _network(n)


def numba(n):
    """The same code as for NumPy, compiled."""
    import numba
    import numpy as np

    return numba.njit(_step_by_hand(np, np.float32(RATE))), _network(n)


def torch(n):
    """The gradient by ``autograd``."""
    return _torch(n, lambda function: function)


def torch_compiled(n):
    """Loss and gradient compiled."""
    import torch

    return _torch(n, torch.compile)


def jax(n):
    """The whole step as one program."""
    import jax

    step, arguments = jax_eager(n)
    return jax.jit(step), arguments


def jax_eager(n):
    """The gradient by ``jax.value_and_grad``, one operation after the other."""
    import jax
    import jax.numpy as jnp

    def loss(weights, x, y):
        w1, b1, w2, b2 = weights
        error = jnp.tanh(x @ w1 + b1) @ w2 + b2 - y
        return (error * error).sum() / ROWS

    def step(x, y, *weights):
        value, slopes = jax.value_and_grad(loss)(weights, x, y)
        return value, *(w - RATE * slope for w, slope in zip(weights, slopes, strict=True))

    return step, tuple(map(jnp.asarray, _network(n)))


def _torch(n, compiler):
    import torch

    @compiler
    def loss(x, y, w1, b1, w2, b2):
        error = torch.tanh(x @ w1 + b1) @ w2 + b2 - y
        return (error * error).sum() / ROWS

    def step(x, y, *weights):
        weights = [w.detach().requires_grad_() for w in weights]
        value = loss(x, y, *weights)
        slopes = torch.autograd.grad(value, weights)
        with torch.no_grad():
            stepped = (w - RATE * slope for w, slope in zip(weights, slopes, strict=True))
            return value.detach(), *stepped

    return step, tuple(map(torch.from_numpy, _network(n)))


def _step_by_hand(np, rate):
    rows, two = np.float32(ROWS), np.float32(2)

    def step(x, y, w1, b1, w2, b2):
        hidden = np.tanh(x @ w1 + b1)
        error = hidden @ w2 + b2 - y
        slope = error * (two / rows)
        back = slope @ w2.T * (1 - hidden * hidden)
        return (
            (error * error).sum() / rows,
            w1 - rate * (x.T @ back),
            b1 - rate * back.sum(0),
            w2 - rate * (hidden.T @ slope),
            b2 - rate * slope.sum(0),
        )

    return step


def _network(n):
    import numpy as np

    rng = np.random.default_rng(0)
    scale = 1 / n**0.5
    shapes = (((ROWS, n), 1), ((ROWS, n), 1), ((n, n), scale), (n, 1), ((n, n), scale), (n, 1))
    return tuple((rng.standard_normal(s) * by).astype("float32") for s, by in shapes)
