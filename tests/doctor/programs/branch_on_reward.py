"""A loop whose condition is an array: each turn waits for it."""

import jax
import jax.numpy as jnp


@jax.jit
def newton(x):
    f = x**3 - 2.0
    return x - 0.05 * f / (3 * x**2), jnp.abs(f).max()


x = jnp.linspace(1.0, 3.0, 1000)
error = jnp.inf
while error > 1e-2:
    x, error = newton(x)
print(x.shape)
