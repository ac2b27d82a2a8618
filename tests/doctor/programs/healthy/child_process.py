"""A child process, started afresh, that computes with JAX as its parent does."""

import multiprocessing

import jax
import jax.numpy as jnp


@jax.jit
def square_sum(x):
    return jnp.sum(x**2)


def work(n):
    return float(square_sum(jnp.arange(float(n))))


def main():
    here = work(10)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.map(work, [10])
    print(here, there)


if __name__ == "__main__":
    main()
