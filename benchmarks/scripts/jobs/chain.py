"""Ten elementwise operations, one after the other, on n numbers.

The square plus 1, its root; the sine of three times x over the root, and e to that; their sum with
the square, over the root, times x. NumPy, torch and un-jitted JAX make an array for each; Numba is
one loop; torch.compile and jax.jit may fuse them.
"""

import math

import numpy as np
from timing import run


def inputs(n):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(n, dtype=np.float32)]


def chain_with(xp):
    """The chain in whole arrays, with the functions of module xp."""

    def chain(x):
        square = x * x + 1
        root = xp.sqrt(square)
        wave = xp.exp(xp.sin(3 * x / root))
        return (wave + square) / root * x

    return chain


def build_numpy():
    return chain_with(np)


def build_numba():
    from numba import njit

    one, three = np.float32(1), np.float32(3)

    @njit
    def chain(x):
        out = np.empty_like(x)
        for i in range(x.size):
            square = x[i] * x[i] + one
            root = math.sqrt(square)
            out[i] = (math.exp(math.sin(three * x[i] / root)) + square) / root * x[i]
        return out

    return chain


def build_torch():
    import torch

    return chain_with(torch)


def build_torch_compiled():
    import torch

    return torch.compile(chain_with(torch))


def build_jax():
    import jax
    import jax.numpy as jnp

    return jax.jit(chain_with(jnp))


def build_jax_eager():
    import jax.numpy as jnp

    return chain_with(jnp)


if __name__ == "__main__":
    run(inputs, globals())
