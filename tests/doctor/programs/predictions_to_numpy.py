"""Evaluates a model batch by batch and collects in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def predict(w, x):
    return jax.nn.softmax(jnp.tanh(x @ w) @ w.T)


def evaluate(w, batches):
    correct = 0
    for x in batches:
        probabilities = np.asarray(predict(w, x))
        correct += int((probabilities.argmax(axis=1) == 0).sum())
    return correct


def main():
    w = jnp.sin(jnp.arange(100.0 * 100).reshape(100, 100))
    data = jnp.cos(jnp.arange(300.0 * 32 * 100)).reshape(300, 32, 100)
    print(evaluate(w, list(data)) > 0)


if __name__ == "__main__":
    main()
