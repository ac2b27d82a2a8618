"""A policy that is asked for each action: the cart it drives is simulated in Python."""

import jax
import jax.numpy as jnp
import numpy as np


class Cart:
    def __init__(self):
        self.place, self.speed = 0.5, 0.0

    def observed(self):
        return np.array([self.place, self.speed], np.float32)

    def step(self, push):
        self.speed = 0.95 * self.speed + 0.02 * push
        self.place += self.speed
        if abs(self.place) > 2.0:
            self.place, self.speed = 0.5, 0.0
        return self.observed(), -abs(self.place)


@jax.jit
def choose(weights, state, key):
    logits = jnp.tanh(state @ weights["in"]) @ weights["out"]
    return jax.random.categorical(key, logits)


def main():
    weights = {"in": jnp.ones((2, 256)) * 0.1, "out": jnp.zeros((256, 3))}
    keys = list(jax.random.split(jax.random.key(0), 200))
    cart = Cart()
    state = cart.observed()
    rewards = []
    for key in keys:
        action = int(choose(weights, state, key))
        state, reward = cart.step(action - 1)
        rewards.append(reward)
    print(len(rewards), sum(rewards) < 0)


if __name__ == "__main__":
    main()
