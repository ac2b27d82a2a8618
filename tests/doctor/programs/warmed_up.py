"""Warms up before the loop, then sends the same table in each step; a trainer keeps its state."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def mix(state, table):
    return 0.99 * state + 0.01 * table.mean(axis=0)


@jax.jit
def decay(weights, rate):
    return weights - rate * weights.mean() * weights


class Trainer:
    def __init__(self, size):
        self.weights = jnp.ones((size, size))
        decay(self.weights, 0.1).block_until_ready()

    def advance(self):
        self.weights = decay(self.weights, 0.1)


def main():
    table = np.ones((4000, 64), np.float32)
    state = jnp.zeros(64)
    mix(state, table).block_until_ready()
    for _ in range(50):
        state = mix(state, table)
    trainer = Trainer(1024)
    for _ in range(20):
        trainer.advance()
    print(state[0], trainer.weights.sum())


main()
