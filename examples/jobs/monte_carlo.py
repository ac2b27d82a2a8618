"""The price of an option by Monte Carlo, n random paths of 100 steps: n from 10 to 10,000.

    coldwarm bench monte_carlo.py:numpy monte_carlo.py:numba monte_carlo.py:torch \
        monte_carlo.py:torch_compiled monte_carlo.py:jax monte_carlo.py:jax_eager \
        --sweep n=10:10000 --input n=n

It pays what the mean of the price over the path is above 1 (an Asian option). The random numbers
are the argument, the same for all; drawing them is not measured. Numba uses one thread.
"""

STEPS = 100
DRIFT, SPREAD = 0.0005, 0.02


def numpy(n):
    """All paths and steps at once."""
    import numpy as np

    def price(normals):
        paths = np.exp(np.cumsum(SPREAD * normals + DRIFT, axis=0))
        return np.maximum(paths.mean(axis=0) - 1, 0).mean()

    return price, (_normals(n),)


def numba(n):
    """One path after the other."""
    import math

    import numba
    import numpy as np

    drift, spread, one, zero = map(np.float32, (DRIFT, SPREAD, 1, 0))

    @numba.njit
    def price(normals):
        steps, n = normals.shape
        paid = 0.0
        for path in range(n):
            height = total = zero
            for step in range(steps):
                height += spread * normals[step, path] + drift
                total += math.exp(height)
            paid += max(total / np.float32(steps) - one, zero)
        return np.float32(paid / n)

    return price, (_normals(n),)


def torch(n):
    """All paths and steps at once."""
    return _torch(n, lambda function: function)


def torch_compiled(n):
    """The same, compiled."""
    import torch

    return _torch(n, torch.compile)


def jax(n):
    """A loop over the steps with all paths, in one program."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def price(normals):
        def step(state, normal):
            height, total = state
            height = height + SPREAD * normal + DRIFT
            return (height, total + jnp.exp(height)), None

        start = jnp.zeros_like(normals[0])
        (_, total), _ = jax.lax.scan(step, (start, start), normals)
        return jnp.maximum(total / STEPS - 1, 0).mean()

    return price, (jnp.asarray(_normals(n)),)


def jax_eager(n):
    """All paths and steps at once, one operation after the other."""
    import jax.numpy as jnp

    def price(normals):
        paths = jnp.exp(jnp.cumsum(SPREAD * normals + DRIFT, axis=0))
        return jnp.maximum(paths.mean(axis=0) - 1, 0).mean()

    return price, (jnp.asarray(_normals(n)),)


def _torch(n, compiler):
    import torch

    @compiler
    def price(normals):
        paths = torch.exp(torch.cumsum(SPREAD * normals + DRIFT, dim=0))
        return torch.relu(paths.mean(dim=0) - 1).mean()

    return price, (torch.from_numpy(_normals(n)),)


def _normals(n):
    """Return a normal number for each step (row) and path (column)."""
    import numpy as np

    return np.random.default_rng(0).standard_normal((STEPS, n)).astype("float32")
