"""One helper for the weights of a model and for the counts of its classes: two inputs, two types."""

import jax
import jax.numpy as jnp


@jax.jit
def spread(values):
    return values.max() - values.min()


def main():
    weights = jnp.sin(jnp.arange(4096.0)).reshape(64, 64)
    counts = jnp.arange(10) ** 2
    for _ in range(5):
        print(f"{spread(weights):.3f} {spread(counts)}")
        weights = 0.9 * weights


if __name__ == "__main__":
    main()
