"""Langevin sampling of a double well; the chain is printed while it runs."""

import jax
import jax.numpy as jnp


def potential(x):
    return jnp.sum((x**2 - 1.0) ** 2)


@jax.jit
def move(x, noise, dt=1e-2):
    return x - dt * jax.grad(potential)(x) + jnp.sqrt(2 * dt) * noise


def chain(key, x, turns):
    """Yield the states."""
    for _ in range(turns):
        noise = jax.random.normal(key, x.shape)
        x = move(x, noise)
        yield x


def main():
    key = jax.random.PRNGKey(1)
    heights = []
    for x in chain(key, jnp.zeros(50), 100):
        heights.append(float(jnp.max(x)))
    print(len(heights))


main()
