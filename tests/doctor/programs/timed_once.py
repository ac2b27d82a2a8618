"""How long does one product take?"""

import time

import jax
import jax.numpy as jnp


@jax.jit
def gram(x):
    scaled = jnp.tanh(x) / jnp.linalg.norm(x, axis=1, keepdims=True)
    return jnp.linalg.cholesky(scaled @ scaled.T + jnp.eye(x.shape[0]))


def benchmark(size):
    x = jnp.cos(jnp.arange(float(size * size)).reshape(size, size))
    start = time.perf_counter()
    result = gram(x)
    result.block_until_ready()
    seconds = time.perf_counter() - start
    return seconds, result


if __name__ == "__main__":
    seconds, result = benchmark(100)
    print("measured" if seconds > 0 else "nothing", result.shape)
