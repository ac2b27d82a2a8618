"""A scan outside of jit, with a new function each time."""

import jax
import jax.numpy as jnp


@jax.jit
def smooth(x, rate):
    return jax.lax.scan(lambda c, v: (c + rate * (v - c), jnp.tanh(c)), 0.0, x)[1]


x = jnp.linspace(0.0, 1.0, 500)
for turn in range(20):
    x = smooth(x, 0.5)
print(f"{x.sum():.4f}")
