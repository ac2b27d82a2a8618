"""The largest mean over a window of a series, for windows of several lengths."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="length")
def largest_mean(series, length):
    sums = jnp.cumsum(series)
    return ((sums[length:] - sums[:-length]) / length).max()


series = jnp.sin(jnp.arange(300.0) / 7)
for length in range(10, 45, 5):
    print(length, f"{largest_mean(series, length=length):.3f}")
