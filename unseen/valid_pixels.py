"""Mean brightness of the valid pixels of images."""

from functools import partial

import jax
import jax.numpy as jnp


class Photometer:
    def __init__(self, threshold):
        self.threshold = threshold

    @partial(jax.jit, static_argnums=0)
    def brightness(self, image):
        valid = jnp.isfinite(image) & (image > self.threshold)
        return image[valid].mean()


def main():
    meter = Photometer(0.2)
    images = [jnp.linspace(0, scale, 64).reshape(8, 8) for scale in (1.0, 2.0)]
    for image in images:
        print(meter.brightness(image))


main()
