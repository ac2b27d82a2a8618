"""Sums of the first numbers."""

import jax
import jax.numpy as jnp


@jax.jit
def first_sum(n):
    numbers = jnp.arange(n)
    return jnp.sum(numbers)


print("sums")
for n in (10, 20):
    print(first_sum(n))
