"""Walkers that jump or drift, by a coin of their own: one of two branches draws from a key."""

import jax
import jax.numpy as jnp


def step(key, place):
    coin, move = jax.random.split(key)

    def jump():
        return place + jax.random.cauchy(move, place.shape)

    def drift():
        return place + 0.1 * jax.random.normal(move, place.shape)

    place = jax.lax.cond(jax.random.bernoulli(coin), jump, drift)
    return jax.lax.while_loop(lambda one: jnp.abs(one).max() > 3, lambda one: one / 2, place)


def main():
    key = jax.random.key(5)
    places = jnp.zeros((8, 2))
    walk = jax.jit(jax.vmap(step))
    for turn in range(4):
        places = walk(jax.random.split(jax.random.fold_in(key, turn), 8), places)
    grid = jax.vmap(jax.vmap(step))(jax.random.split(key, (2, 3)), jnp.zeros((2, 3, 2)))
    print(places.shape, grid.shape)


main()
