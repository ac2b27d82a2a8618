"""Augment images by a function which makes its own key."""

import jax
import jax.numpy as jnp


def random_shift(images, seed=42):
    key = jax.random.PRNGKey(seed)
    shift = jax.random.randint(key, (2,), -2, 3)
    return jnp.roll(images, shift, axis=(1, 2))


@jax.jit
def train_step(w, images):
    grad = jax.grad(lambda w: jnp.mean((images.reshape(len(images), -1) @ w - 1.0) ** 2))(w)
    return w - 0.01 * grad


def loader(turns):
    images = jnp.linspace(0, 1, 32 * 8 * 8).reshape(32, 8, 8)
    for _ in range(turns):
        yield random_shift(images)


w = jnp.zeros(64)
for batch in loader(20):
    w = train_step(w, batch)
print(w.shape)
