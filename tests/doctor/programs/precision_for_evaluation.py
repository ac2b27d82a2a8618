"""Evaluates at a higher precision than it trains with."""

import jax
import jax.numpy as jnp


@jax.jit
def energy(w, x):
    return jnp.sum(jnp.tanh(x @ w) ** 2) / x.shape[0]


def evaluate(w, x):
    with jax.default_matmul_precision("highest"):
        return energy(w, x)


def main():
    x = jnp.sin(jnp.arange(64.0 * 16).reshape(64, 16))
    w = jnp.cos(jnp.arange(256.0).reshape(16, 16))
    for _ in range(10):
        value = energy(w, x)
        w = w * 0.99
    print(f"{value:.1f} {evaluate(w, x):.1f}")


if __name__ == "__main__":
    main()
