"""A new function object for each call of jit."""

import jax
import jax.numpy as jnp


@jax.jit
def predict(weights, x):
    return jax.nn.relu(jnp.tanh(x @ weights) @ weights.T).sum()


weights, total = jnp.ones((8, 8)) * 0.1, 0.0
for turn in range(16):
    total += predict(weights, jnp.full((4, 8), 0.01 * turn))
print(f"{total:.4f}")
