"""A benchmark of a transform at many sizes."""

import time

import jax
import jax.numpy as jnp


@jax.jit
def spectrum(x):
    return jnp.abs(jnp.fft.rfft(x * jnp.hanning(x.shape[0]))) ** 2


def measure(size):
    x = jnp.sin(jnp.arange(float(size)))
    begin = time.perf_counter()
    spectrum(x).block_until_ready()
    return time.perf_counter() - begin


def main():
    rows = {size: measure(size) for size in range(100, 1300, 120)}
    print("sizes", len(rows), min(rows.values()) > 0)


if __name__ == "__main__":
    main()
