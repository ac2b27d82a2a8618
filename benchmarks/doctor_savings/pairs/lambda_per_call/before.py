"""A new function object for each call of jit."""

import jax
import jax.numpy as jnp


def predict(weights, x):
    return jax.jit(lambda w, x: jax.nn.relu(jnp.tanh(x @ w) @ w.T).sum())(weights, x)


weights, total = jnp.ones((8, 8)) * 0.1, 0.0
for turn in range(16):
    total += predict(weights, jnp.full((4, 8), 0.01 * turn))
print(f"{total:.4f}")
