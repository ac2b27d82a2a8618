"""A trajectory that grows by concatenation."""

import jax
import jax.numpy as jnp


@jax.jit
def move(x):
    return jnp.sin(x) + 0.1


x = jnp.ones((1, 3))
parts = [x]
for _ in range(60):
    x = move(x)
    parts.append(x)
print(f"{jnp.concatenate(parts).sum():.3f}")
