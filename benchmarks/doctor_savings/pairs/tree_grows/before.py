"""Metrics that gain a key while training."""

import jax
import jax.numpy as jnp

NAMES = ("loss", "norm", "step", "rate", "wide")


@jax.jit
def step(x, metrics):
    big = jax.scipy.linalg.expm(x)
    return x * 0.99, {name: value + jnp.trace(big) for name, value in metrics.items()}


x, metrics = jnp.eye(6) * 0.1, {}
for turn in range(len(NAMES)):
    metrics[NAMES[turn]] = jnp.zeros(())
    x, metrics = step(x, metrics)
print(f"{metrics['wide']:.4f}")
