"""A program that compiles two functions with JAX."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit  # type: ignore[untyped-decorator]
def step(x: jax.Array) -> jax.Array:
    return jnp.sin(x) @ x.T


@jax.jit  # type: ignore[untyped-decorator]
def total(x: jax.Array) -> jax.Array:
    return (x * 2).sum()


x = np.ones((20, 20), np.float32)
RESULT = float(total(step(x)))
