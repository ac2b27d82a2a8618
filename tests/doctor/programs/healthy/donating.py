"""Donation as it should be: the state is taken over, and the name is bound anew."""

import functools

import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-3)


@functools.partial(jax.jit, donate_argnames=("params", "state"))
def step(params, state, x):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, loss


def main():
    params = jnp.ones((1200, 1200))
    state = optimizer.init(params)
    x = jnp.ones((4, 1200))
    losses = []
    for _ in range(15):
        params, state, loss = step(params, state, x)
        losses.append(loss)
    print(bool(losses[-1] < losses[0]))


main()
