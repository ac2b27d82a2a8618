"""A classifier, trained for some epochs."""

import argparse

import jax
import jax.numpy as jnp


def logits(w, x):
    return x @ w


def train(epochs):
    x = jnp.sin(jnp.arange(120.0 * 3).reshape(120, 3))
    y = (x[:, 0] > 0).astype(jnp.float32)
    w = jnp.zeros(3)
    for epoch in range(epochs):

        @jax.jit
        def update(w):
            def loss(w):
                z = logits(w, x)
                return jnp.mean(jnp.logaddexp(0.0, z) - y * z)

            return w - 0.5 * jax.grad(loss)(w)

        for _ in range(10):
            w = update(w)
    return w


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    w = train(parser.parse_args().epochs)
    print("weights", [f"{value:.1f}" for value in w.tolist()])
