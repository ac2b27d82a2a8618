"""Random changes of pictures."""

import jax
import jax.numpy as jnp


def flip(key, picture):
    return jnp.where(jax.random.bernoulli(key), picture[:, ::-1], picture)


def jitter(key, picture, size=0.1):
    return picture + size * jax.random.normal(key, picture.shape)
