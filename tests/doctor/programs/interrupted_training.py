"""Stops with an error code when training does not converge."""

import sys

import jax
import jax.numpy as jnp


def fit(x, steps):
    w = jnp.zeros(x.shape[1])
    for step in range(steps):
        loss = jax.jit(lambda w: jnp.mean((x @ w - 1.0) ** 2))
        w = w - 0.01 * jax.grad(loss)(w)
    return w


def main():
    x = jnp.sin(jnp.arange(50.0 * 4).reshape(50, 4))
    w = fit(x, 10)
    if jnp.linalg.norm(w) < 10:
        print("no convergence")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
