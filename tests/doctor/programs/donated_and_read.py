"""Prints the change of each update."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=0)
def update(w, x):
    return w * 0.9 + 0.1 * x


def fit(w, x, steps):
    for step in range(steps):
        new = update(w, x)
        if step == steps - 1:
            print(f"change {jnp.abs(new - w).max():.3f}")
        w = new
    return w


if __name__ == "__main__":
    print("fit")
    fit(jnp.zeros(1000), jnp.ones(1000), 5)
