"""A filter whose gain is a Python number in a module: every gain is another program."""

import equinox as eqx
import jax
import jax.numpy as jnp


class Filter(eqx.Module):
    taps: jax.Array
    gain: float

    def __call__(self, signal):
        return self.gain * jnp.convolve(signal, self.taps, mode="same")


@eqx.filter_jit
def smooth(signal, layer):
    return layer(signal).sum()


def sweep(signal, taps):
    total = 0.0
    for gain in (0.5, 0.6, 0.7, 0.8, 0.9):
        total += smooth(signal, Filter(taps, gain))
    return total


if __name__ == "__main__":
    signal = jnp.linspace(0, 1, 500)
    print(f"{sweep(signal, jnp.ones(9) / 9):.1f}")
