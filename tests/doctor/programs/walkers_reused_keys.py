"""Walkers that all take one step of a random walk in each turn; their keys are made once."""

import jax
import jax.numpy as jnp


def step(key, place):
    return place + 0.1 * jax.random.normal(key, place.shape)


def main():
    keys = jax.random.split(jax.random.key(11), 8)
    places = jnp.zeros((8, 2))
    walk = jax.jit(jax.vmap(step))
    for _ in range(5):
        places = walk(keys, places)
    print(places.shape)


main()
