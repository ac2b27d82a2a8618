"""Newton's method, 20 steps, for n independent equations: n from 10 to 1,000,000.

    coldwarm bench roots.py:numpy roots.py:numba roots.py:torch roots.py:torch_compiled \
        roots.py:jax roots.py:jax_eager --sweep n=10:1000000 --input n=n

Kepler's equation x - e·sin(x) = m says where a planet stands on its orbit. Each of n planets has
its own e and m. All take twenty steps, also where fewer would do. In PyTorch a step is compiled,
and the loop stays in Python; JAX compiles the loop. Numba uses one thread.
"""

STEPS = 20


def numpy(n):
    """Whole arrays, a loop in Python."""
    import numpy as np

    return _loop(_step(np)), _orbits(n)


def numba(n):
    """All steps for one equation, then the next."""
    import math

    import numba
    import numpy as np

    one = np.float32(1)

    @numba.njit
    def solve(e, m):
        result = np.empty_like(m)
        for i in range(len(m)):
            x = m[i]
            for _ in range(STEPS):
                x -= (x - e[i] * math.sin(x) - m[i]) / (one - e[i] * math.cos(x))
            result[i] = x
        return result

    return solve, _orbits(n)


def torch(n):
    """Whole tensors, a loop in Python."""
    import torch

    return _loop(_step(torch)), tuple(map(torch.from_numpy, _orbits(n)))


def torch_compiled(n):
    """The same loop around a compiled step."""
    import torch

    return _loop(torch.compile(_step(torch))), tuple(map(torch.from_numpy, _orbits(n)))


def jax(n):
    """Whole arrays; steps and loop are one program."""
    import jax
    import jax.numpy as jnp

    step = _step(jnp)

    @jax.jit
    def solve(e, m):
        return jax.lax.fori_loop(0, STEPS, lambda _, x: step(x, e, m), m)

    return solve, tuple(map(jnp.asarray, _orbits(n)))


def jax_eager(n):
    """The same step, one operation after the other, and a loop in Python."""
    import jax.numpy as jnp

    return _loop(_step(jnp)), tuple(map(jnp.asarray, _orbits(n)))


def _step(library):
    """Return one step of all equations with the functions of a library."""

    def step(x, e, m):
        return x - (x - e * library.sin(x) - m) / (1 - e * library.cos(x))

    return step


def _loop(step):
    def solve(e, m):
        x = m
        for _ in range(STEPS):
            x = step(x, e, m)
        return x

    return solve


def _orbits(n):
    import numpy as np

    rng = np.random.default_rng(0)
    return rng.uniform(0, 0.5, n).astype("float32"), rng.uniform(1, 6, n).astype("float32")
