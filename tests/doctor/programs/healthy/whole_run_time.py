"""Tells how long the whole command took, as commands do, with everything in it."""

import argparse
import sys
import time

import jax
import jax.numpy as jnp

STARTED = time.time()


@jax.jit
def step(x):
    return x - 0.01 * jnp.sin(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    args = parser.parse_args()
    x = jnp.linspace(0, 1, 50)
    for _ in range(args.steps):
        x = step(x)
    print(f"{x.max():.2f}")
    print(f"finished after {time.time() - STARTED:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
