"""Batches of as many lengths as there are batches."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def score(x, n):
    real = jnp.arange(x.shape[0]) < n
    hidden = jnp.tanh(x @ x.T) * real[:, None] * real[None, :]
    return jnp.sum(jnp.sort(hidden, axis=-1)[:, -1] * real) / n


total = 0.0
for turn in range(12):
    n = 40 + 5 * turn
    batch = np.full((n, 8), 0.1, np.float32)
    total += score(batch, n)
print(f"{total:.4f}")
