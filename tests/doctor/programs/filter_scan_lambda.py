"""A particle filter over several series: each series scans with a function of its own."""

import jax
import jax.numpy as jnp


def advance(noise, state, seen):
    """One step of a filter with gain."""
    mean, spread = state
    spread = spread + 0.1
    gain = spread / (spread + noise)
    mean = mean + gain * (seen - mean)
    return (mean, (1 - gain) * spread), mean


class Smoother:
    def __init__(self, noise):
        self.noise = noise

    def __call__(self, series):
        start = (jnp.zeros(()), jnp.ones(()))
        _, means = jax.lax.scan(lambda c, x: advance(self.noise, c, x), start, series)
        return means


def main():
    smooth = Smoother(0.5)
    wave = jnp.sin(jnp.linspace(0, 9, 100))
    series = [wave * scale for scale in (1.0, 2.0, 3.0, 4.0, 5.0)]
    last = list(map(smooth, series))
    print(jnp.stack(last).shape)


main()
