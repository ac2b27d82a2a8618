"""Operations one by one, outside of jit."""

import jax
import jax.numpy as jnp

x, v = jnp.ones(3), jnp.zeros(3)
for _ in range(3000):
    force = -x / (1.0 + jnp.sum(x * x))
    v = v + 0.01 * force
    x = x + 0.01 * v
print(f"{x.sum():.2f}")
