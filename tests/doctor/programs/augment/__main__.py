"""Run with `python -m augment`."""

import jax
import jax.numpy as jnp

from .transforms import flip, jitter


def augmented(key, picture):
    picture = flip(key, picture)
    return jitter(key, picture)


def main():
    picture = jnp.sin(jnp.arange(64.0)).reshape(8, 8)
    keys = jax.random.split(jax.random.PRNGKey(3), 4)
    pictures = [augmented(key, picture) for key in keys]
    print(jnp.stack(pictures).shape)


if __name__ == "__main__":
    main()
