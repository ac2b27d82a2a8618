"""A state that is a dataclass, in a loop with a warm-up outside of it."""

import time
from dataclasses import dataclass

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass
class State:
    position: jax.Array
    velocity: jax.Array


class Simulator:
    def __init__(self, dt):
        self.advance = jax.jit(self._advance)
        self.dt = dt

    def _advance(self, state):
        velocity = state.velocity - self.dt * jnp.sin(state.position)
        return State(state.position + self.dt * velocity, velocity)


def main():
    simulator = Simulator(0.01)
    state = simulator.advance(State(jnp.linspace(0, 1, 100), jnp.zeros(100)))
    jax.block_until_ready(state)
    begin = time.monotonic()
    for _ in range(500):
        state = simulator.advance(state)
    jax.block_until_ready(state)
    print(time.monotonic() > begin, f"{state.position.max():.1f}")


if __name__ == "__main__":
    main()
