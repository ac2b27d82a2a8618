"""A chain of five products of n x n matrices: a @ b @ c @ d @ e @ f.

The entries are scaled by 1 / sqrt(n), so the values stay moderate. All
frameworks write it alike; there is no Numba code, which would only call the
same BLAS as NumPy (the script then ends with exit code 3).
"""

import math

import numpy as np
from timing import run


def inputs(n):
    rng = np.random.default_rng(0)
    scale = np.float32(1 / math.sqrt(n))
    return [scale * rng.standard_normal((n, n), dtype=np.float32) for _ in range(6)]


def products(a, b, c, d, e, f):
    return a @ b @ c @ d @ e @ f


def build_numpy():
    return products


build_torch = build_jax_eager = build_numpy  # written alike


def build_torch_compiled():
    import torch

    return torch.compile(products)


def build_jax():
    import jax

    return jax.jit(products)


if __name__ == "__main__":
    run(inputs, globals())
