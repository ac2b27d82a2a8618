"""Run with `python -m stopwatch.compare`."""

import jax.numpy as jnp

from stopwatch.models import direct, iterative
from stopwatch.timing import RECORDS


def main():
    n = 80
    a = jnp.eye(n) * 4 + jnp.eye(n, k=1) + jnp.eye(n, k=-1)
    b = jnp.linspace(0, 1, n)
    exact = direct(a, b)
    close = iterative(a, b)
    print("equal", bool(jnp.allclose(exact, close, atol=1e-3)))
    print(sorted(RECORDS), all(len(times) == 1 for times in RECORDS.values()))


if __name__ == "__main__":
    main()
