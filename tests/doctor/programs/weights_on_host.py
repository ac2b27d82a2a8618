"""Serve a model whose weights were loaded with NumPy and stay there."""

import functools

import jax
import jax.numpy as jnp
import numpy as np


def load():
    rng = np.random.default_rng(0)
    return {f"layer{i}": rng.normal(size=(1000, 1000)).astype(np.float32) / 30 for i in range(3)}


@jax.jit
def forward(weights, x):
    for name in sorted(weights):
        x = jnp.tanh(x @ weights[name])
    return x.mean()


def serve(requests):
    predict = functools.partial(forward, load())
    return [predict(request) for request in requests]


requests = [jnp.full((4, 1000), 0.01 * i) for i in range(15)]
print(len(serve(requests)))
