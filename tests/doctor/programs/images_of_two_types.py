"""Normalises images, some of which are bytes, some floats."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def normalise(image):
    image = image.astype(jnp.float32)
    image = image - image.mean(axis=(0, 1))
    return image / (jnp.sqrt((image**2).mean(axis=(0, 1))) + 1e-3)


def images():
    rng = np.random.default_rng(1)
    for i in range(24):
        image = rng.integers(0, 255, size=(32, 32, 3))
        kind = (np.uint8, np.float32, np.float16, np.int32)[i % 4]
        yield image.astype(kind)


def main():
    peaks = [normalise(image).max() for image in images()]
    print(f"{len(peaks)} images, {jnp.stack(peaks).mean():.1f}")


if __name__ == "__main__":
    main()
