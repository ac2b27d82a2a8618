"""Random numbers as they should be drawn: in a loop, by name and for a batch."""

import jax
import jax.numpy as jnp


def noisy(key, x):
    return x + 0.1 * jax.random.normal(key, x.shape)


@jax.jit
def walk(key, x):
    def body(carry, _):
        key, x = carry
        key, sub = jax.random.split(key)
        return (key, noisy(sub, x)), x.mean()

    return jax.lax.scan(body, (key, x), None, length=20)


def main():
    key = jax.random.PRNGKey(0)
    key, init_key = jax.random.split(key)
    x = jax.random.uniform(init_key, (16,))
    for _ in range(20):
        key, sub = jax.random.split(key)
        x = noisy(sub, x)
    base = jax.random.key(1)
    for step in range(20):
        x = noisy(jax.random.fold_in(base, step), x)
    (_, x), means = walk(key, x)
    batch = jax.vmap(noisy, in_axes=(0, None))(jax.random.split(jax.random.key(2), 4), x)
    print(means.shape, batch.shape)


if __name__ == "__main__":
    main()
