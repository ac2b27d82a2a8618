"""Logistic regression as a class."""

import jax
import jax.numpy as jnp


class LogisticRegression:
    def __init__(self, n_features, rate):
        self.w = jnp.zeros(n_features)
        self.rate = rate

    def _gradient(self, w, x, y):
        p = jax.nn.sigmoid(x @ w)
        return x.T @ (p - y) / x.shape[0]

    def partial_fit(self, x, y):
        gradient = jax.jit(self._gradient)
        self.w = self.w - self.rate * gradient(self.w, x, y)
        return self

    def score(self, x, y):
        return jnp.mean((x @ self.w > 0) == (y > 0.5))


if __name__ == "__main__":
    x = jnp.cos(jnp.arange(400.0).reshape(100, 4) * 1.7)
    y = (x[:, 1] - x[:, 2] > 0).astype(jnp.float32)
    model = LogisticRegression(4, rate=1.0)
    for _ in range(20):
        model.partial_fit(x, y)
    print(f"score {model.score(x, y):.2f}")
