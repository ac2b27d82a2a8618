"""Time each epoch from its start, with the step that was made for it."""

import time

import jax
import jax.numpy as jnp
import optax


def build(optimizer):
    @jax.jit
    def step(w, state, x):
        loss, grads = jax.value_and_grad(lambda w: jnp.mean((x @ w - 1.0) ** 2))(w)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(w, updates), state, loss

    return step


def epoch(w, x, optimizer):
    step = build(optimizer)
    state = optimizer.init(w)
    begin = time.monotonic()
    for _ in range(30):
        w, state, loss = step(w, state, x)
    loss.block_until_ready()
    seconds = time.monotonic() - begin
    return w, seconds


def main():
    w, x = jnp.zeros(32), jnp.ones((64, 32))
    optimizer = optax.adam(1e-2)
    times = []
    for _ in range(4):
        w, seconds = epoch(w, x, optimizer)
        times.append(seconds)
    print(len(times), "epochs")


main()
