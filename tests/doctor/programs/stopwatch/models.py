"""What is compared."""

import jax
import jax.numpy as jnp

from stopwatch.timing import timed


@timed
@jax.jit
def direct(a, b):
    return jnp.linalg.solve(a, b)


@timed
@jax.jit
def iterative(a, b):
    def body(_, x):
        return x + (b - a @ x) / jnp.diag(a)

    return jax.lax.fori_loop(0, 50, body, jnp.zeros_like(b))
