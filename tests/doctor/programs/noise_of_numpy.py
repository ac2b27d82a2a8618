"""Augment batches with noise and a random flip inside of a compiled step."""

import random

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)


def flipped(images):
    if random.random() < 0.5:
        return images[:, ::-1]
    return images


@jax.jit
def step(weights, images):
    noisy = images + 0.1 * rng.standard_normal(images.shape)
    scores = flipped(noisy) @ weights
    return weights - 0.01 * scores.mean(0)


def main():
    random.seed(1)
    weights = jnp.zeros(32)
    for _ in range(20):
        weights = step(weights, jnp.ones((16, 32)))
    print(weights.shape)


main()
