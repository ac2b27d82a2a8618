"""An object that is static and counts on the host: what the compiled method reads stays."""

from functools import partial

import jax
import jax.numpy as jnp

LOGGED = 0


class Pendulum:
    def __init__(self, length):
        self.length = length
        self.turns = 0
        self.label = "at rest"

    @partial(jax.jit, static_argnums=0)
    def turn(self, state):
        angle, speed = state
        speed = speed - 0.01 / self.length * jnp.sin(angle)
        return angle + 0.01 * speed, speed


def main():
    global LOGGED
    pendulum = Pendulum(2.0)
    state = jnp.float32(1.0), jnp.float32(0.0)
    for _ in range(300):
        state = pendulum.turn(state)
        pendulum.turns += 1
        pendulum.label = f"turn {pendulum.turns}"
        LOGGED += 1
    print(pendulum.label, LOGGED, f"{float(state[0]):.3f}")


if __name__ == "__main__":
    main()
