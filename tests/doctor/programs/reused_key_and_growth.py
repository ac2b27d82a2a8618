"""A random walk that is kept whole."""

import jax
import jax.numpy as jnp


def walk(seed, n):
    key = jax.random.PRNGKey(seed)
    start = jax.random.normal(key, (3,))
    drift = jax.random.normal(key, (3,))
    path = start[None, :]
    position = start
    for turn in range(n):
        kick = jax.random.normal(jax.random.fold_in(key, turn), (3,))
        position = position + 0.1 * drift + kick
        path = jnp.vstack([path, position])
    return path


if __name__ == "__main__":
    print(walk(0, 25).shape)
