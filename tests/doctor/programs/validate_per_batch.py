"""Evaluate over a loader: the predictions are compared on the host, batch by batch."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn


class Mlp(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(256)(x))
        return nn.Dense(10)(x)


class Loader:
    """Batches of a data set."""

    def __init__(self, images, labels, size):
        self.images, self.labels, self.size = images, labels, size

    def __iter__(self):
        for begin in range(0, len(self.labels), self.size):
            yield self.images[begin : begin + self.size], self.labels[begin : begin + self.size]


def accuracy(predict, loader):
    right = 0
    total = 0
    for images, labels in loader:
        guess = np.argmax(predict(images), axis=-1)
        right += int((guess == labels).sum())
        total += len(labels)
    return right / total


def main():
    model = Mlp()
    rng = np.random.default_rng(0)
    images = jnp.asarray(rng.normal(size=(3000, 256)), jnp.float32)
    labels = rng.integers(0, 10, 3000)
    params = model.init(jax.random.key(0), images[:1])
    predict = jax.jit(lambda x: model.apply(params, x))
    print(round(accuracy(predict, Loader(images, labels, 100)), 1))


main()
