"""Measures on purpose what compiling takes, ahead of time, for two sizes."""

import time

import jax
import jax.numpy as jnp


def relax(x):
    return jax.lax.fori_loop(0, 9, lambda _, now: jnp.tanh(now @ now), x)


for size in (64, 128):
    x = jnp.ones((size, size))
    begin = time.perf_counter()
    compiled = jax.jit(relax).lower(x).compile()
    print("compiling for", size, "took", time.perf_counter() - begin > 0)
    compiled(x).block_until_ready()
