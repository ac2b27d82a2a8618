"""Makes a jitted function for each degree and each rate once, keeps them, and calls them often."""

from functools import lru_cache

import jax
import jax.numpy as jnp


@lru_cache
def polynomial(degree):
    @jax.jit
    def value(c, x):
        return jax.lax.fori_loop(0, degree, lambda _, a: a * x + c, jnp.zeros_like(x))

    return value


def damped(rate):
    return jax.jit(lambda x: jnp.tanh(rate * x).sum())


x = jnp.linspace(0, 1, 100)
dampings = {rate: damped(rate) for rate in (0.1, 0.2, 0.3, 0.4)}
for _ in range(20):
    for degree in (2, 3, 5, 7):
        y = polynomial(degree)(1.0, x)
    sums = {rate: of(x) for rate, of in dampings.items()}
print(y.sum(), sums)
