"""Simulated annealing with a decorator of the project's own around jit."""

import functools

import jax
import jax.numpy as jnp


def compiled(*static):
    """Compile a function; the named arguments are options."""

    def wrap(function):
        fast = functools.partial(jax.jit, static_argnames=static)(function)

        @functools.wraps(function)
        def call(*args, **kwargs):
            return fast(*args, **kwargs)

        return call

    return wrap


def energy(x):
    return jnp.sum(x**2 - jnp.cos(6.0 * x))


@compiled("temperature", "proposals")
def sweep(key, x, temperature, proposals=20):
    def move(x, key):
        step, accept = jax.random.split(key)
        new = x + 0.3 * jax.random.normal(step, x.shape)
        chance = jnp.exp((energy(x) - energy(new)) / temperature)
        return jnp.where(jax.random.uniform(accept) < chance, new, x), None

    return jax.lax.scan(move, x, jax.random.split(key, proposals))[0]


def anneal(key, x):
    schedule = [2.0 / (1 + stage) for stage in range(8)]
    for key, temperature in zip(jax.random.split(key, 8), schedule, strict=True):
        x = sweep(key, x, temperature=temperature)
    return x


if __name__ == "__main__":
    print(f"{energy(anneal(jax.random.key(0), jnp.full(20, 2.0))):.1f}")
