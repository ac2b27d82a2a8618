"""A power by multiplying n times."""

import jax
import jax.numpy as jnp


@jax.jit
def power(x, n):
    result = jnp.ones_like(x)
    for _ in range(n):
        result = result * x
    return result


print("powers")
print(power(jnp.arange(3.0), 4))
