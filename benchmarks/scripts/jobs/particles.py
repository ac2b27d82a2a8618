"""Softened gravity between all pairs of n particles in three dimensions.

The force on i is the sum over j of m_j (r_j - r_i) / (d2 + 0.01)^1.5. NumPy,
torch and un-jitted JAX make n x n arrays, one for each coordinate; Numba is two
loops; JAX goes over the particles one after the other inside one jit.
"""

import math

import numpy as np
from timing import run

SOFTENING = 0.01


def inputs(n):
    rng = np.random.default_rng(0)
    positions = rng.standard_normal((n, 3), dtype=np.float32)
    masses = rng.random(n, dtype=np.float32) / np.float32(n)
    return [positions, masses]


def forces_with(xp):
    """All pairs at once, with the functions of module xp."""

    def forces(r, m):
        x, y, z = r[:, 0], r[:, 1], r[:, 2]
        dx = x[None, :] - x[:, None]
        dy = y[None, :] - y[:, None]
        dz = z[None, :] - z[:, None]
        d2 = dx * dx + dy * dy + dz * dz + SOFTENING
        weight = m / (d2 * xp.sqrt(d2))
        return xp.stack([(weight * dx).sum(1), (weight * dy).sum(1), (weight * dz).sum(1)], 1)

    return forces


def build_numpy():
    return forces_with(np)


def build_numba():
    from numba import njit

    softening, zero = np.float32(SOFTENING), np.float32(0)

    @njit(fastmath=True)
    def forces(r, m):
        out = np.empty_like(r)
        for i in range(r.shape[0]):
            x, y, z = r[i, 0], r[i, 1], r[i, 2]
            fx, fy, fz = zero, zero, zero
            for j in range(r.shape[0]):
                dx, dy, dz = r[j, 0] - x, r[j, 1] - y, r[j, 2] - z
                d2 = dx * dx + dy * dy + dz * dz + softening
                weight = m[j] / (d2 * math.sqrt(d2))
                fx += weight * dx
                fy += weight * dy
                fz += weight * dz
            out[i, 0], out[i, 1], out[i, 2] = fx, fy, fz
        return out

    return forces


def build_torch():
    import torch

    return forces_with(torch)


def build_torch_compiled():
    import torch

    return torch.compile(forces_with(torch))


def build_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

    @jax.jit
    def forces(r, m):
        def force_on(here):
            d = r - here
            d2 = (d * d).sum(axis=1) + SOFTENING
            return (m / (d2 * jnp.sqrt(d2))) @ d

        return lax.map(force_on, r)

    return forces


def build_jax_eager():
    import jax.numpy as jnp

    return forces_with(jnp)


if __name__ == "__main__":
    run(inputs, globals())
