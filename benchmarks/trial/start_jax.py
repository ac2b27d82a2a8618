"""Starts of a real compiler: ``units_N`` has N steps to trace and compile with JAX.

Each step is a product with a matrix and a sine of another multiple. XLA fuses nothing over a
product, so that it compiles a kernel for each step. Importing JAX takes as long as many of them,
so that 70 in place of 60 make a first result about 10 % later; how much exactly is measured apart.
All functions return the same numbers.
"""

import jax
import jax.numpy as jnp


@jax.jit  # type: ignore[untyped-decorator]
def units_60(x: jax.Array) -> jax.Array:
    """Trace and compile 60 steps."""
    return _steps(x, 60)


@jax.jit  # type: ignore[untyped-decorator]
def units_70(x: jax.Array) -> jax.Array:
    """Trace and compile 70 steps."""
    return _steps(x, 70)


def _steps(x: jax.Array, steps: int) -> jax.Array:
    matrix = jnp.outer(x, x)
    total = x
    for step in range(1, steps + 1):
        total = jnp.sin(matrix @ total * step)
    # A sine is bounded, so this is x; the compiler cannot know.
    return x + 0.0 * total
