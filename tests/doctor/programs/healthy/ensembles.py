"""An ensemble by vmap, a list of few layers, one step compiled, losses read at the end."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

WIDTHS = (8, 32, 32, 1)


def initial(key):
    keys = jax.random.split(key, len(WIDTHS) - 1)
    return [
        {"w": jax.random.normal(k, (n, m)) / jnp.sqrt(n), "b": jnp.zeros(m)}
        for k, n, m in zip(keys, WIDTHS[:-1], WIDTHS[1:], strict=True)
    ]


def predict(layers, x):
    for layer in layers[:-1]:
        x = nnx.gelu(x @ layer["w"] + layer["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


def make(optimizer):
    def loss_of(layers, x, y):
        return optax.huber_loss(predict(layers, x), y).mean()

    def one(layers, state, x, y):
        loss, grads = jax.value_and_grad(loss_of)(layers, x, y)
        updates, state = optimizer.update(grads, state, layers)
        return optax.apply_updates(layers, updates), state, loss

    return jax.jit(jax.vmap(one, in_axes=(0, 0, None, None)), donate_argnums=(0, 1))


def main():
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))
    step = make(optimizer)
    members = jax.vmap(initial)(jax.random.split(jax.random.key(0), 5))
    state = jax.vmap(optimizer.init)(members)
    x = jax.random.normal(jax.random.key(1), (128, 8))
    y = jnp.sin(x[:, :1])
    losses = []
    for _ in range(60):
        members, state, loss = step(members, state, x, y)
        losses.append(loss)
    table = jax.device_get(jnp.stack(losses))
    print(table.shape, bool((table[-1] < table[0]).all()))


main()
