"""Starts of a real compiler, for cold trials: ``more`` has 10 % more steps to compile.

Each step is a product with a matrix and a sine of another multiple. XLA fuses nothing over a
product, so that it compiles a kernel for each step. Both return the same number.
"""

import jax
import jax.numpy as jnp

STEPS = 60


@jax.jit  # type: ignore[untyped-decorator]
def base(x: jax.Array) -> jax.Array:
    """Trace and compile 60 steps."""
    return _steps(x, STEPS)


@jax.jit  # type: ignore[untyped-decorator]
def more(x: jax.Array) -> jax.Array:
    """Trace and compile 66 steps."""
    return _steps(x, STEPS + STEPS // 10)


def _steps(x: jax.Array, steps: int) -> jax.Array:
    matrix = jnp.outer(x, x)
    total = x
    for step in range(1, steps + 1):
        total = jnp.sin(matrix @ total * step)
    # A sine is bounded, so this is x; the compiler cannot know.
    return x + 0.0 * total
