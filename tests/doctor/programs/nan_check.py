"""Stops as soon as something is not a number."""

import jax
import jax.numpy as jnp


@jax.jit
def update(state):
    return state + 0.01 * jnp.cos(state) - 0.001 * state**3


class Runner:
    def __init__(self, state):
        self.state = state

    def run(self, steps):
        for step in range(steps):
            self.state = update(self.state)
            if jnp.isnan(self.state).any():
                return step
        return steps


if __name__ == "__main__":
    runner = Runner(jnp.linspace(0, 1, 2000))
    print("steps", runner.run(500))
