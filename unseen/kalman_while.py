"""A filter that runs until it has converged; its state begins as a number of Python."""

import jax
import jax.numpy as jnp


@jax.jit
def update(spread, drift):
    spread = spread + drift
    gain = spread / (spread + 1.0)
    return (1.0 - gain) * spread + jnp.sum(drift) * jnp.float32(0.0)


def steady(start, drift):
    spread = start
    for _ in range(30):
        spread = update(spread, drift)
    return spread


def main():
    drifts = jnp.linspace(0.1, 0.5, 4)
    found = [steady(1.0, drift) for drift in drifts]
    print(jnp.stack(found).shape)


main()
