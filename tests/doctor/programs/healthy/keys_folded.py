"""Keys by fold_in and split, also through a vmap and with a key of each epoch."""

import jax
import jax.numpy as jnp


def draw(key, shape):
    first, second = jax.random.split(key)
    return jax.random.normal(first, shape) * jax.random.uniform(second, shape)


@jax.jit
def walk(key, x):
    keys = jax.random.split(key, 20)
    return jax.lax.scan(lambda c, k: (c + 0.1 * draw(k, c.shape), None), x, keys)[0]


def main():
    root = jax.random.key(5)
    start_key, sample_key, root = jax.random.split(root, 3)
    x = jax.random.normal(start_key, (16,))
    for epoch in range(4):
        key = jax.random.fold_in(root, epoch)
        x = walk(key, x)
        for batch in range(3):
            inner = jax.random.fold_in(jax.random.fold_in(root, 100 + epoch), batch)
            x = x + 0.01 * jax.random.normal(inner, x.shape)
    samples = jax.vmap(lambda k: jax.random.normal(k, (3,)))(jax.random.split(sample_key, 8)[1:])
    print(x.shape, samples.shape)


main()
