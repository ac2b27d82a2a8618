"""Fits a sine with a gradient that nobody compiled."""

import jax
import jax.numpy as jnp


def model(params, x):
    return params["a"] * jnp.sin(params["b"] * x + params["c"])


def loss(params, x, y):
    return jnp.mean((model(params, x) - y) ** 2)


def fit(params, x, y, *, rate=0.05, steps=150):
    gradient = jax.value_and_grad(loss)
    for _ in range(steps):
        value, g = gradient(params, x, y)
        params = {name: params[name] - rate * g[name] for name in params}
    return params, value


if __name__ == "__main__":
    x = jnp.linspace(0, 6, 60)
    params = dict.fromkeys("abc", jnp.float32(1.0))
    params, value = fit(params, x, 1.5 * jnp.sin(1.1 * x + 0.4))
    print(sorted(params), f"{value < 0.5}")
