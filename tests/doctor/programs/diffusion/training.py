"""The steps of training."""

import functools

import jax
import jax.numpy as jnp

from .model import network


def noisy_loss(params, key, x):
    noise = jax.random.normal(key, x.shape)
    return jnp.mean((network.denoise(params, x + noise) - noise) ** 2)


@functools.partial(jax.jit, donate_argnames=("params",))
def update(params, key, x):
    loss, grads = jax.value_and_grad(noisy_loss)(params, key, x)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


class Trainer:
    def __init__(self, seed, width):
        self.key = jax.random.key(seed)
        self.params = network.init(jax.random.fold_in(self.key, 0), width)
        self.losses = []

    def fit(self, x, steps):
        noise_key = jax.random.fold_in(self.key, 1)
        for _ in range(steps):
            self.params, loss = update(self.params, noise_key, x)
            self.losses.append(loss.item())
