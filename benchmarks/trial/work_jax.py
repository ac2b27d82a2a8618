"""Warm work compiled by JAX: ``units_N`` does N units in a loop, each y ← cos(x + y/2).

After some sixty units y no longer changes: all functions give the same answer.
"""

from functools import partial

import jax
import jax.numpy as jnp


def units_200(x: jax.Array) -> jax.Array:
    """Do 200 units."""
    return _work(x, 200)


def units_205(x: jax.Array) -> jax.Array:
    """Do 205 units, 2.5 % more."""
    return _work(x, 205)


def units_206(x: jax.Array) -> jax.Array:
    """Do 206 units, 3 % more."""
    return _work(x, 206)


def units_210(x: jax.Array) -> jax.Array:
    """Do 210 units, 5 % more."""
    return _work(x, 210)


def units_216(x: jax.Array) -> jax.Array:
    """Do 216 units, 8 % more."""
    return _work(x, 216)


@partial(jax.jit, static_argnums=1)
def _work(x: jax.Array, units: int) -> jax.Array:
    return jax.lax.fori_loop(0, units, lambda _, y: jnp.cos(x + 0.5 * y), x)
