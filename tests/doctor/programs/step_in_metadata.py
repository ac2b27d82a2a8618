"""A training state as a registered dataclass which counts its steps in a field that is no array."""

import dataclasses
import functools

import jax
import jax.numpy as jnp


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=["params", "speed"], meta_fields=["step"]
)
@dataclasses.dataclass
class State:
    params: jax.Array
    speed: jax.Array
    step: int = 0


def apply_gradient(state, gradient):
    speed = 0.9 * state.speed + gradient
    return dataclasses.replace(
        state, params=state.params - 0.05 * speed, speed=speed, step=state.step + 1
    )


@jax.jit
def train_step(state, x):
    gradient = jax.grad(lambda p: jnp.mean((x @ p - 1.0) ** 2))(state.params)
    return apply_gradient(state, gradient)


def train(state, batches):
    for batch in batches:
        state = train_step(state, batch)
    return state


state = train(State(jnp.zeros(12), jnp.zeros(12)), [jnp.ones((8, 12))] * 10)
print(state.step)
