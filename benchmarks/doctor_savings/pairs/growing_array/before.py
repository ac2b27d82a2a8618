"""A trajectory that grows by concatenation."""

import jax
import jax.numpy as jnp


@jax.jit
def move(x):
    return jnp.sin(x) + 0.1


x, path = jnp.ones((1, 3)), jnp.ones((1, 3))
for _ in range(60):
    x = move(x)
    path = jnp.concatenate([path, x])
print(f"{path.sum():.3f}")
