"""A filter whose settings are an object that is made for each call."""

import jax
import jax.numpy as jnp


class Settings:
    def __init__(self, width, gain):
        self.width = width
        self.gain = gain


class Smoother:
    def __init__(self, width):
        self.width = width
        self._apply = jax.jit(self._smooth, static_argnums=1)

    @staticmethod
    def _smooth(signal, settings):
        kernel = jnp.ones(settings.width) / settings.width
        return settings.gain * jnp.convolve(signal, kernel, mode="same")

    def __call__(self, signal):
        settings = Settings(self.width, 1.0)
        return self._apply(signal, settings)


def main():
    smoother = Smoother(5)
    signal = jnp.sin(jnp.arange(500.0) / 10)
    for _ in range(40):
        signal = smoother(signal)
    print(f"{jnp.abs(signal).max():.3f}")


main()
