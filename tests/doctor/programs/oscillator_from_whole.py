"""A driven oscillator whose state and clock begin as whole numbers."""

import jax
import jax.numpy as jnp

STEP = 0.05


@jax.jit
def advance(state, clock):
    place, speed = state
    pull = jnp.cos(2.0 * clock) - place - 0.1 * speed
    return jnp.stack([place + STEP * speed, speed + STEP * pull])


state, clock = jnp.array([1, 0]), 0
for _ in range(60):
    state = advance(state, clock)
    clock += STEP
print(state.round(3))
