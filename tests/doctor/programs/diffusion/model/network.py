"""The network that removes noise."""

import jax
import jax.numpy as jnp


def init(key, width):
    first, second = jax.random.split(key)
    return {
        "first": jax.random.normal(first, (2, width)) * 0.5,
        "second": jax.random.normal(second, (width, 2)) * 0.1,
    }


def denoise(params, x):
    return jnp.tanh(x @ params["first"]) @ params["second"]
