"""One stopwatch for all: first it is given a NumPy function, and then a compiled one."""

import time

import jax
import jax.numpy as jnp
import numpy as np


def with_numpy(x):
    for _ in range(20):
        x = np.tanh(x @ x / len(x))
    return x


@jax.jit
def with_jax(x):
    for _ in range(20):
        x = jnp.tanh(x @ x / len(x))
    return x


def stopwatch(function, x):
    start = time.perf_counter()
    result = function(x)
    return time.perf_counter() - start, result.shape


def main():
    x = np.random.default_rng(0).normal(size=(600, 600)).astype("float32")
    times = {"numpy": [stopwatch(with_numpy, x) for _ in range(3)]}
    y = jnp.asarray(x)
    with_jax(y).block_until_ready()
    times["jax"] = [stopwatch(with_jax, y) for _ in range(5)]
    print({name: shape for name, ((_, shape), *_) in times.items()})


if __name__ == "__main__":
    main()
