"""Time a product of matrices with a timer used in a with block."""

import time

import jax
import jax.numpy as jnp


class Timer:
    """Seconds spent in a block."""

    def __enter__(self):
        self.start = time.time()
        return self

    def __exit__(self, *_):
        self.seconds = time.time() - self.start


@jax.jit
def power(x):
    return jax.lax.fori_loop(0, 30, lambda _, y: jnp.tanh(y @ x), x)


def benchmark(size, repeats=3):
    x = jnp.full((size, size), 1e-3)
    power(x).block_until_ready()  # compile
    best = float("inf")
    for _ in range(repeats):
        with Timer() as timer:
            result = power(x)
        best = min(best, timer.seconds)
    return best, result


def main():
    best, result = benchmark(600)
    print(result.shape, best < 60)


main()
