"""A benchmark done right: the first call has a figure of its own, and each result is awaited."""

import statistics
import time

import jax
import jax.numpy as jnp


def first_call(function, *args):
    """Seconds of the first call, compiling included: that is what is asked here."""
    begin = time.perf_counter()
    jax.block_until_ready(function(*args))
    return time.perf_counter() - begin


def steady(function, *args, repeats=10):
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        jax.block_until_ready(function(*args))
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


product = jax.jit(lambda a, b: jnp.tanh(a @ b).sum())


def main():
    a = jnp.full((400, 400), 0.01)
    compile_and_run = first_call(product, a, a)
    run = steady(product, a, a)
    print("compiling takes longer:", compile_and_run > run)


main()
