"""Simulated measurements with noise."""

import jax
import jax.numpy as jnp


def measure(key, n):
    signal = jax.random.uniform(key, (n,))
    noise = 0.1 * jax.random.normal(key, (n,))
    return signal, signal + noise


def main():
    key = jax.random.key(7)
    signal, measured = measure(key, 100)
    print(f"correlation {jnp.corrcoef(signal, measured)[0, 1]:.2f}")


if __name__ == "__main__":
    main()
