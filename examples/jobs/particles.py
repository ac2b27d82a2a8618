"""The forces between all pairs of n particles: n from 8 to 2,000.

    coldwarm bench particles.py:numpy particles.py:numba particles.py:torch \
        particles.py:torch_compiled particles.py:jax particles.py:jax_eager \
        --sweep n=8:2000 --input n=n

Gravity, made softer at short distances. NumPy, PyTorch and eager JAX make arrays of n × n numbers.
Numba and compiled JAX take one particle after the other. Numba uses one thread.
"""

SOFT = 0.01


def numpy(n):
    """Arrays of all pairs."""
    import numpy as np

    return _forces(np), _particles(n)


def numba(n):
    """Two loops; ``fastmath`` lets the compiler add in any order, as the libraries do."""
    import numba
    import numpy as np

    soft = np.float32(SOFT)

    @numba.njit(fastmath=True)
    def forces(place, mass):
        n = len(mass)
        result = np.empty_like(place)
        for i in range(n):
            fx = fy = fz = np.float32(0)
            for j in range(n):
                x = place[0, j] - place[0, i]
                y = place[1, j] - place[1, i]
                z = place[2, j] - place[2, i]
                square = x * x + y * y + z * z + soft
                pull = mass[j] / (square * np.sqrt(square))
                fx += pull * x
                fy += pull * y
                fz += pull * z
            result[0, i], result[1, i], result[2, i] = fx * mass[i], fy * mass[i], fz * mass[i]
        return result

    return forces, _particles(n)


def torch(n):
    """Tensors of all pairs."""
    import torch

    return _forces(torch), tuple(map(torch.from_numpy, _particles(n)))


def torch_compiled(n):
    """The same tensors, compiled."""
    import torch

    return torch.compile(_forces(torch)), tuple(map(torch.from_numpy, _particles(n)))


def jax(n):
    """A compiled loop: the forces on one particle, then on the next."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def forces(place, mass):
        def on_one(own):
            away = place - own[:, None]
            square = (away * away).sum(0) + SOFT
            return away @ (mass / (square * jnp.sqrt(square)))

        return jax.lax.map(on_one, place.T).T * mass

    return forces, tuple(map(jnp.asarray, _particles(n)))


def jax_eager(n):
    """Arrays of all pairs, one operation after the other."""
    import jax.numpy as jnp

    return _forces(jnp), tuple(map(jnp.asarray, _particles(n)))


def _forces(library):
    """Return the function with the functions of a library."""

    def forces(place, mass):
        away = place[:, None, :] - place[:, :, None]
        square = (away * away).sum(0) + SOFT
        pull = mass / (square * library.sqrt(square))
        return (away * pull).sum(2) * mass

    return forces


def _particles(n):
    """Return places, one row for each direction, and masses."""
    import numpy as np

    rng = np.random.default_rng(0)
    return rng.standard_normal((3, n)).astype("float32"), rng.uniform(1, 2, n).astype("float32")
