"""Annealing: the same step at lower and lower temperature."""

import functools

import jax
import jax.numpy as jnp


def relax(x, temperature, coupling=0.3):
    field = coupling * (jnp.roll(x, 1) + jnp.roll(x, -1))
    return jnp.tanh(field / temperature + x)


def anneal(x, temperatures):
    for temperature in temperatures:
        step = jax.jit(functools.partial(relax, temperature=temperature))
        x = step(x)
    return x


if __name__ == "__main__":
    temperatures = [2.0 * 0.95**turn for turn in range(30)]
    x = anneal(jnp.sin(jnp.arange(300.0)), temperatures)
    print(f"magnetisation {jnp.abs(x).mean():.3f}")
