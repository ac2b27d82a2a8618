"""Moments of samples that come from a file as a list."""

import jax
import jax.numpy as jnp


@jax.jit
def moments(samples):
    samples = jnp.stack(samples)
    centred = samples - samples.mean()
    return samples.mean(), jnp.sqrt((centred**2).mean())


def read(n):
    return [0.5 + (31 * i % 101) / 101 for i in range(n)]


def main():
    samples = read(600)
    for _ in range(30):
        mean, spread = moments(samples)
    print(f"mean {mean:.2f}, spread {spread:.2f}")


if __name__ == "__main__":
    main()
