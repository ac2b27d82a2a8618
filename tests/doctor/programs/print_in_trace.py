"""A loop of training whose loss is printed inside."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=(0,))
def step(w, x):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - 1.0) ** 2))(w)
    print("loss", loss.shape, loss.dtype)
    return w - 0.1 * grad


def main():
    x = jnp.sin(jnp.arange(60.0).reshape(20, 3))
    w = jnp.zeros(3)
    for _ in range(100):
        w = step(w, x)
    print(w.shape)


if __name__ == "__main__":
    main()
