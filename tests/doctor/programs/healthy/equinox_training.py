"""Equinox with optax: one step, compiled once, donated; the loss is read at the end."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def loss_fn(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


@eqx.filter_jit(donate="all-except-first")
def make_step(data, model, state, optimizer):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, *data)
    updates, state = optimizer.update(grads, state, model)
    return eqx.apply_updates(model, updates), state, loss


def main():
    x = jnp.sin(jnp.arange(64.0 * 3).reshape(64, 3))
    y = x.sum(axis=1, keepdims=True)
    model = eqx.nn.MLP(3, 1, 16, 2, key=jax.random.key(0))
    optimizer = optax.adam(1e-2)
    state = optimizer.init(eqx.filter(model, eqx.is_array))
    losses = []
    for _ in range(100):
        model, state, loss = make_step((x, y), model, state, optimizer)
        losses.append(loss)
    losses = jnp.stack(losses)
    print(bool(losses[-1] < losses[0]))


if __name__ == "__main__":
    main()
