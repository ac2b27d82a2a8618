"""A list of numbers as an argument."""

import jax
import jax.numpy as jnp


@jax.jit
def spread(samples):
    x = jnp.asarray(samples)
    return jnp.std(x) / jnp.mean(x)


samples = [0.001 * n for n in range(400)]
print(f"{spread(samples):.4f}")
