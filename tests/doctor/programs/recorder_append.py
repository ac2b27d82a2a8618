"""A pendulum whose track is kept by a recorder."""

import jax
import jax.numpy as jnp


class Recorder:
    def __init__(self, width):
        self.track = jnp.zeros((0, width))

    def add(self, state):
        self.track = jnp.concatenate([self.track, state[None, :]], axis=0)


@jax.jit
def step(state, dt=0.01):
    angle, speed = state
    speed = speed - dt * jnp.sin(angle)
    return jnp.stack([angle + dt * speed, speed])


def simulate(state, turns, callbacks=()):
    for _ in range(turns):
        state = step(state)
        for callback in callbacks:
            callback(state)
    return state


recorder = Recorder(2)
simulate(jnp.array([1.0, 0.0]), 40, [recorder.add])
print(recorder.track.shape)
