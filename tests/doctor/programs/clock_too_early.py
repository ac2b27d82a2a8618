"""Measures a product of matrices; there is a warm-up."""

import time

import jax
import jax.numpy as jnp


@jax.jit
def powers(x):
    return jax.lax.fori_loop(0, 20, lambda _, y: jnp.tanh(y @ x), x)


def main():
    x = jnp.full((500, 500), 0.001)
    powers(x).block_until_ready()
    times = []
    for _ in range(3):
        t0 = time.perf_counter()
        result = powers(x)
        t1 = time.perf_counter()
        times.append(t1 - t0)
        result.block_until_ready()
    print("runs", len(times), result.shape)


if __name__ == "__main__":
    main()
