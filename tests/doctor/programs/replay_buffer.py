"""A buffer of transitions that grows, as an agent acts."""

import jax
import jax.numpy as jnp


class Buffer:
    def __init__(self):
        self.rewards = jnp.zeros((0,))

    def add(self, reward):
        self.rewards = jnp.append(self.rewards, reward)


@jax.jit
def act(state):
    state = jnp.sin(state * 1.3 + 0.2)
    return state, state.sum()


def main():
    buffer = Buffer()
    state = jnp.linspace(0, 1, 4)
    for _ in range(30):
        state, reward = act(state)
        buffer.add(reward)
    print(buffer.rewards.shape, f"{buffer.rewards.mean():.2f}")


if __name__ == "__main__":
    main()
