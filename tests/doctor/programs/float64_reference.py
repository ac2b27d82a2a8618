"""Compares a sum in float32 with one under 64-bit types."""

import jax
import jax.numpy as jnp
import numpy as np

enable_x64 = getattr(jax, "enable_x64", None)
if enable_x64 is None:
    from jax.experimental import enable_x64


@jax.jit
def series(x):
    return jax.lax.fori_loop(0, 100, lambda i, s: s + jnp.sin(x * i).sum(), x.sum())


def main():
    x = np.linspace(0, 1, 32, dtype=np.float32)
    single = [series(x) for _ in range(5)]
    with enable_x64(True):
        double = series(x)
    print(single[-1].dtype, double.dtype, f"{abs(single[-1] - double) < 1e-2}")


if __name__ == "__main__":
    main()
