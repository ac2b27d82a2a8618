"""A chain of five products of matrices of n × n numbers: n from 16 to 1,024.

    coldwarm bench products.py:numpy products.py:torch products.py:torch_compiled \
        products.py:jax products.py:jax_eager --sweep n=16:1024 --input n=n

Each framework calls a library for a product. Without Numba: it would call the same library for
each product and has nothing of its own to compile.
"""


def numpy(n):
    """Five calls of the library."""
    return _chain, _matrices(n)


def torch(n):
    """Five calls of the library."""
    import torch

    return _chain, tuple(map(torch.from_numpy, _matrices(n)))


def torch_compiled(n):
    """The five calls, compiled."""
    import torch

    return torch.compile(_chain), tuple(map(torch.from_numpy, _matrices(n)))


def jax(n):
    """The five calls in one program."""
    import jax
    import jax.numpy as jnp

    return jax.jit(_chain), tuple(map(jnp.asarray, _matrices(n)))


def jax_eager(n):
    """Five calls, one after the other."""
    import jax.numpy as jnp

    return _chain, tuple(map(jnp.asarray, _matrices(n)))


def _chain(a, b, c, d, e, f):
    return a @ b @ c @ d @ e @ f


def _matrices(n):
    """Return six matrices, scaled so that the product of all is neither large nor small."""
    import numpy as np

    rng = np.random.default_rng(0)
    return tuple(rng.standard_normal((n, n)).astype("float32") / n**0.5 for _ in range(6))
