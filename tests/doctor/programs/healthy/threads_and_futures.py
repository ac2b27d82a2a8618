"""Batches are prepared by a thread while the step runs; the result is fetched once."""

import queue
import threading

import jax
import jax.numpy as jnp
import numpy as np


def produce(out, number):
    rng = np.random.default_rng(0)
    for _ in range(number):
        out.put(jax.device_put(rng.normal(size=(64, 16)).astype(np.float32)))
    out.put(None)


@jax.jit
def step(w, x):
    grad = jax.grad(lambda w: jnp.mean((x @ w - 1.0) ** 2))(w)
    return w - 0.01 * grad


def main():
    batches = queue.Queue(maxsize=4)
    worker = threading.Thread(target=produce, args=(batches, 50))
    worker.start()
    w = jnp.zeros(16, jnp.float32)
    while (x := batches.get()) is not None:
        w = step(w, x)
    worker.join()
    print(np.asarray(w).shape)


main()
