"""Operations one by one, outside of jit."""

import jax
import jax.numpy as jnp


@jax.jit
def move(x, v):
    force = -x / (1.0 + jnp.sum(x * x))
    v = v + 0.01 * force
    return x + 0.01 * v, v


x, v = jnp.ones(3), jnp.zeros(3)
for _ in range(3000):
    x, v = move(x, v)
print(f"{x.sum():.2f}")
