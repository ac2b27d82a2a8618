"""A stencil, 50 sweeps over n × n points, each the mean of its neighbours: n from 16 to 1,024.

    coldwarm bench stencil.py:numpy stencil.py:numba stencil.py:torch stencil.py:torch_compiled \
        stencil.py:jax stencil.py:jax_eager --sweep n=16:1024 --input n=n

Heat that spreads; the edges keep their values. In PyTorch a sweep is compiled, and the loop stays
in Python; JAX compiles the loop. Numba uses one thread.
"""

SWEEPS = 50


def numpy(n):
    """Shifted views of one array, a loop in Python."""
    return _in_place(_sweep), (_plate(n),)


def numba(n):
    """Loops over the points, from one array into another."""
    import numba
    import numpy as np

    quarter = np.float32(0.25)

    @numba.njit
    def relax(u):
        u, new = u.copy(), u.copy()
        for _ in range(SWEEPS):
            for i in range(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    new[i, j] = quarter * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            u, new = new, u
        return u

    return relax, (_plate(n),)


def torch(n):
    """Shifted views of one tensor, a loop in Python."""
    import torch

    return _in_place(_sweep), (torch.from_numpy(_plate(n)),)


def torch_compiled(n):
    """The same loop around a compiled sweep."""
    import torch

    return _in_place(torch.compile(_sweep)), (torch.from_numpy(_plate(n)),)


def jax(n):
    """Shifted views; sweeps and loop are one program."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def relax(u):
        return jax.lax.fori_loop(0, SWEEPS, lambda _, u: u.at[1:-1, 1:-1].set(_mean(u)), u)

    return relax, (jnp.asarray(_plate(n)),)


def jax_eager(n):
    """The same, one operation after the other, and a loop in Python."""
    import jax.numpy as jnp

    def relax(u):
        for _ in range(SWEEPS):
            u = u.at[1:-1, 1:-1].set(_mean(u))
        return u

    return relax, (jnp.asarray(_plate(n)),)


def _mean(u):
    return 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def _sweep(u):
    u[1:-1, 1:-1] = _mean(u)


def _in_place(sweep):
    def relax(u):
        u = u + 0  # a copy
        for _ in range(SWEEPS):
            sweep(u)
        return u

    return relax


def _plate(n):
    import numpy as np

    return np.random.default_rng(0).uniform(0, 1, (n, n)).astype("float32")
