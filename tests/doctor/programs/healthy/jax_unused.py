"""Imports JAX for its version alone."""

import jax


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


if __name__ == "__main__":
    print(bool(jax.__version__), fibonacci(20))
