"""Energies of pairs, summed in two loops."""

import jax
import jax.numpy as jnp


def pair_energy(a, b):
    r2 = jnp.sum((a - b) ** 2) + 0.1
    return 1 / r2**6 - 1 / r2**3


@jax.jit
def total_energy(positions):
    n = positions.shape[0]
    energy = 0.0
    for i in range(n):
        for j in range(i):
            energy = energy + pair_energy(positions[i], positions[j])
    return energy


def main():
    positions = jnp.sin(jnp.arange(12 * 3.0).reshape(12, 3) * 5)
    print(bool(jnp.isfinite(total_energy(positions))))


main()
