"""JAX: arrays, trees, transformations, and 64 bits where they are needed."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class State(NamedTuple):
    """Weights and a step."""

    weights: jax.Array
    step: int


@jax.jit
def norm(x):
    return jnp.sqrt((x * x).sum())


@jax.jit
def step(state, x):
    gradient = jax.grad(lambda w: ((x @ w) ** 2).mean())(state.weights)
    return State(state.weights - 0.1 * gradient, state.step + 1)


@partial(jax.jit, static_argnames="n")
def powers(x, n):
    return jnp.stack([x**k for k in range(n)])


def of_an_array():
    return norm, (jnp.arange(100.0),)


def of_numpy():
    return norm, (np.arange(100, dtype="f4"),)


def training_step():
    return step, (State(jnp.ones(4), 0), jnp.ones((8, 4)))


def static_argument():
    return (lambda x: powers(x, n=3)), (jnp.arange(10.0),)


def as_a_float():
    return (lambda x: float(norm(x))), (jnp.arange(100.0),)


def tree():
    return (lambda x: {"a": norm(x), "b": [x + 1, x * 2]}), (jnp.arange(10.0),)


def scanned():
    @jax.jit
    def run(x):
        return jax.lax.scan(lambda c, v: (c + v, c), 0.0, x)

    return run, (jnp.arange(50.0),)


def keys():
    return jax.jit(lambda key: jax.random.normal(key, (10,))), (jax.random.key(0),)


def as_numpy():
    return (lambda x: np.asarray(norm(x))), (jnp.arange(10.0),)


def eager():
    return (lambda x: jnp.linalg.eigh(x @ x.T)), (jnp.eye(8) + 0.1,)


def double():
    jax.config.update("jax_enable_x64", True)
    return jax.jit(lambda x: jnp.cumsum(x)), (jnp.arange(100, dtype="f8"),)
