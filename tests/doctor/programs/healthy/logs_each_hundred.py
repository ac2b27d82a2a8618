"""A training that reads its loss at every hundredth step."""

from functools import partial

import jax
import jax.numpy as jnp


def loss_fn(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2)


@partial(jax.jit, donate_argnums=0)
def train_step(w, x, y):
    loss, grad = jax.value_and_grad(loss_fn)(w, x, y)
    return w - 0.1 * grad, loss


def main():
    x = jnp.sin(jnp.arange(128.0 * 8).reshape(128, 8))
    y = jnp.tanh(x[:, 0])
    w = jnp.zeros(8)
    for step in range(500):
        w, loss = train_step(w, x, y)
        if step % 100 == 0:
            print(f"step {step}: loss {float(loss):.2f}")


if __name__ == "__main__":
    main()
