"""A moving average of many series, one after another."""

import jax
import jax.numpy as jnp


def smooth(series, weight):
    _, out = jax.lax.scan(
        lambda carry, value: ((1 - weight) * carry + weight * value,) * 2, series[0], series
    )
    return out


def main():
    ends = []
    for phase in range(25):
        series = jnp.sin(jnp.arange(200.0) / 7 + phase)
        ends.append(smooth(series, 0.1)[-1])
    print(f"{jnp.stack(ends).mean():.3f}")


if __name__ == "__main__":
    main()
