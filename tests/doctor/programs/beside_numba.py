"""Neighbours by Numba, forces by JAX; the number of neighbours changes."""

import jax
import jax.numpy as jnp
import numba
import numpy as np


@numba.njit
def pairs(place, reach):
    found = []
    for i in range(len(place)):
        for j in range(i):
            if abs(place[i] - place[j]) < reach:
                found.append((i, j))
    return np.array(found)


@jax.jit
def energy(place, index):
    apart = place[index[:, 0]] - place[index[:, 1]]
    return jnp.sum(jnp.exp(-(apart**2)))


force = jax.jit(jax.grad(energy))


def simulate(place, turns):
    for _ in range(turns):
        index = pairs(np.asarray(place), 0.5)
        place = place + 0.1 * force(place, index)
    return place


start = jnp.asarray(np.random.default_rng(0).uniform(-3, 3, 30))
print(simulate(start, 30).shape)
