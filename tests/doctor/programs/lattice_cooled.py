"""Cools a lattice step by step: its temperature is an attribute that is read while tracing."""

from functools import partial

import jax
import jax.numpy as jnp


class Lattice:
    def __init__(self, size):
        self.size = size
        self.beta = 0.1

    def weight(self, energy):
        return jnp.exp(-self.beta * energy)

    @partial(jax.jit, static_argnums=0)
    def sweep(self, spins, draws):
        energy = 2.0 * spins * (jnp.roll(spins, 1) + jnp.roll(spins, -1))
        return jnp.where(draws < self.weight(energy), -spins, spins)


def main():
    lattice = Lattice(512)
    spins = jnp.ones(lattice.size)
    draws = jnp.linspace(0.0, 1.0, lattice.size)
    for temperature in (8.0, 4.0, 2.0, 1.0):
        lattice.beta = 1.0 / temperature
        spins = lattice.sweep(spins, draws)
    print(f"magnetisation {float(spins.mean()):.3f}")


if __name__ == "__main__":
    main()
