"""The optimizer is a static argument, and each epoch makes its own."""

from functools import partial

import jax
import jax.numpy as jnp
import optax


@partial(jax.jit, static_argnames=("tx",))
def train_step(params, x, y, tx):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - y) ** 2))(params)
    updates, _ = tx.update(grads, tx.init(params), params)
    return optax.apply_updates(params, updates)


def main():
    x = jnp.sin(jnp.arange(40.0 * 3).reshape(40, 3))
    params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
    for _ in range(15):
        tx = optax.sgd(0.1)
        for _ in range(10):
            params = train_step(params, x, x.sum(axis=1), tx=tx)
    print({name: value.shape for name, value in params.items()})


if __name__ == "__main__":
    main()
