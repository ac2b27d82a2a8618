"""The equation of heat on a square."""

import jax.numpy as jnp


def laplacian(u):
    return (
        jnp.roll(u, 1, axis=0)
        + jnp.roll(u, -1, axis=0)
        + jnp.roll(u, 1, axis=1)
        + jnp.roll(u, -1, axis=1)
        - 4 * u
    )


def advance(u, alpha, dt):
    return u + alpha * dt * laplacian(u)
