"""Brightness of frames from several cameras, each with a type of its own."""

import jax
import jax.numpy as jnp
import numpy as np


def camera(kind, number):
    """Yield the frames of a camera."""
    rng = np.random.default_rng(number)
    for _ in range(number):
        yield (rng.random((32, 32)) * 100).astype(kind)


@jax.jit
def stretch(frame):
    low, high = jnp.percentile(frame, jnp.array([1.0, 99.0]))
    return jnp.clip((frame - low) / (high - low), 0, 1).mean()


def process(sources):
    return [stretch(frame) for source in sources for frame in source]


cameras = (camera(kind, 3) for kind in ("uint8", "int16", "float32", "float16"))
print(len(process(cameras)))
