"""An agent whose reward is a property that reads the device each turn, in a while loop."""

import jax
import jax.numpy as jnp


class Agent:
    def __init__(self):
        self._state = jnp.ones((600, 600)) / 600
        self._move = jax.jit(lambda s: jnp.tanh(s @ s.T) + 0.1)
        self._score = jax.jit(lambda s: s.mean())

    def act(self):
        self._state = self._move(self._state)

    @property
    def reward(self):
        return self._score(self._state).tolist()


def play(agent, rounds):
    total = 0.0
    while rounds > 0:
        agent.act()
        total += agent.reward
        rounds -= 1
    return total


print(play(Agent(), 40) > 0)
