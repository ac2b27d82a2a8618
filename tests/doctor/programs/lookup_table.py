"""A closure over a table of measured values."""

import jax
import jax.numpy as jnp
import numpy as np


def make_interpolator(n):
    table = np.sin(np.linspace(0, 20, n)).astype(np.float32)

    @jax.jit
    def interpolate(x):
        place = jnp.clip((x * n).astype(jnp.int32), 0, n - 2)
        share = x * n - place
        values = jnp.asarray(table)
        return (1 - share) * values[place] + share * values[place + 1]

    return interpolate


def main():
    interpolate = make_interpolator(12_000_000)
    x = jnp.linspace(0, 0.9, 50)
    for _ in range(5):
        x = jnp.abs(interpolate(x)) * 0.9
    print(f"{x.mean():.3f}")


if __name__ == "__main__":
    main()
