"""A model that holds its data, with itself as a static argument."""

import functools

import jax
import jax.numpy as jnp
import numpy as np


class Regression:
    def __init__(self, n, width):
        rng = np.random.default_rng(0)
        self.x = jnp.asarray(rng.standard_normal((n, width)).astype(np.float32))
        self.y = self.x[:, 0]

    @functools.partial(jax.jit, static_argnums=(0,))
    def loss(self, w):
        return jnp.mean((self.x @ w - self.y) ** 2)

    def fit(self, w, rate, steps):
        gradient = jax.jit(jax.grad(self.loss))
        for _ in range(steps):
            w = w - rate * gradient(w)
        return w


if __name__ == "__main__":
    model = Regression(100_000, 64)
    w = model.fit(jnp.zeros(64), 0.3, 20)
    print(f"first weight {w[0]:.1f}")
