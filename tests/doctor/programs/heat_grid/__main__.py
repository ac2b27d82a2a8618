"""Run with `python -m heat_grid --steps 300`."""

import argparse

import jax.numpy as jnp

from .physics import advance


def solve(size, steps):
    u = jnp.zeros((size, size)).at[size // 2, size // 2].set(100.0)
    for _ in range(steps):
        u = advance(u, 0.1, 0.5)
    return u


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=300)
    args = parser.parse_args()
    u = solve(args.size, args.steps)
    print(f"total {u.sum():.1f}, hottest {u.max():.3f}")


if __name__ == "__main__":
    main()
