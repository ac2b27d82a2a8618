"""The same model at three sizes, on purpose, each with its warm-up."""

import argparse
import time

import jax
import jax.numpy as jnp


@jax.jit
def relax(u):
    return jax.lax.fori_loop(0, 50, lambda _, u: 0.5 * (jnp.roll(u, 1) + jnp.roll(u, -1)), u)


def measure(size, repeats):
    u = jnp.sin(jnp.arange(float(size)))
    relax(u).block_until_ready()
    begin = time.perf_counter()
    for _ in range(repeats):
        u = relax(u)
    u.block_until_ready()
    return (time.perf_counter() - begin) / repeats


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000])
    args = parser.parse_args()
    for size in args.sizes:
        print(size, measure(size, 50) > 0)


if __name__ == "__main__":
    main()
