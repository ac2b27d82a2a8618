"""Ten elementwise operations, one after the other, on n numbers: n from 100 to 10,000,000.

    coldwarm bench chain.py:numpy chain.py:numba chain.py:torch chain.py:torch_compiled \
        chain.py:jax chain.py:jax_eager --sweep n=100:10000000 --input n=n

NumPy, PyTorch and eager JAX make an array for each operation. The others join the ten into one
pass over memory. Numba uses one thread.
"""


def numpy(n):
    """Whole arrays."""
    import numpy as np

    return _formula(np), (_numbers(n),)


def numba(n):
    """One loop; its constants are of single precision, as the numbers are."""
    import math

    import numba
    import numpy as np

    one, three = np.float32(1), np.float32(3)

    @numba.njit
    def chain(x):
        result = np.empty_like(x)
        for i in range(len(x)):
            square = x[i] * x[i] + one
            root = math.sqrt(square)
            wave = math.exp(math.sin(three * x[i] / root))
            result[i] = (wave + square) / root * x[i]
        return result

    return chain, (_numbers(n),)


def torch(n):
    """Whole tensors."""
    import torch

    return _formula(torch), (torch.from_numpy(_numbers(n)),)


def torch_compiled(n):
    """The same tensors, compiled."""
    import torch

    return torch.compile(_formula(torch)), (torch.from_numpy(_numbers(n)),)


def jax(n):
    """Whole arrays, compiled."""
    import jax
    import jax.numpy as jnp

    return jax.jit(_formula(jnp)), (jnp.asarray(_numbers(n)),)


def jax_eager(n):
    """The same arrays, one operation after the other."""
    import jax.numpy as jnp

    return _formula(jnp), (jnp.asarray(_numbers(n)),)


def _formula(library):
    """Return the ten operations with the functions of a library."""

    def chain(x):
        square = x * x + 1
        root = library.sqrt(square)
        wave = library.exp(library.sin(3 * x / root))
        return (wave + square) / root * x

    return chain


def _numbers(n):
    import numpy as np

    return np.random.default_rng(0).standard_normal(n).astype("float32")
