"""Linear regression with a learning rate that decays."""

import functools

import jax
import jax.numpy as jnp


def loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


@functools.partial(jax.jit, static_argnames=("lr",))
def update(w, x, y, lr):
    return w - lr * jax.grad(loss)(w, x, y)


def main():
    x = jnp.sin(jnp.arange(256.0).reshape(64, 4))
    y = x @ jnp.array([1.0, -2.0, 3.0, 0.5])
    w = jnp.zeros(4)
    for step in range(20):
        lr = 0.3 / (1 + 0.05 * step)
        w = update(w, x, y, lr=lr)
    print("weights", [round(float(value), 2) for value in w])


if __name__ == "__main__":
    main()
