"""The mean of what is positive."""

import jax
import jax.numpy as jnp


class Statistics:
    @staticmethod
    @jax.jit
    def positive_mean(values):
        chosen = values[values > 0]
        return chosen.mean()


def main():
    values = jnp.linspace(-1, 2, 10)
    print("mean of", values.shape[0])
    print(Statistics.positive_mean(values))


if __name__ == "__main__":
    main()
