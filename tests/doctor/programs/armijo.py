"""Gradient descent with a line search, compiled as a whole."""

import jax
import jax.numpy as jnp


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def backtrack(f, x, slope, step=1.0):
    """Halve the step until the function falls."""
    while f(x - step * slope) > f(x) - 0.1 * step * jnp.vdot(slope, slope):
        step *= 0.5
    return step


@jax.jit
def descend(x):
    slope = jax.grad(rosenbrock)(x)
    return x - backtrack(rosenbrock, x, slope) * slope


def main():
    x = jnp.zeros(4)
    for _ in range(10):
        x = descend(x)
    print(x.shape)


main()
