"""A noisy network: two helpers draw from the key that they get."""

import jax
import jax.numpy as jnp


def dropout(key, x, rate=0.5):
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), 0)


def jitter(key, x, scale=0.1):
    return x + scale * jax.random.normal(key, x.shape)


@jax.jit
def forward(params, x, key):
    for w in params:
        x = jnp.tanh(x @ w)
    x = jitter(key, x)
    return dropout(key, x).sum()


def main():
    key = jax.random.key(7)
    key, init = jax.random.split(key)
    params = [jax.random.normal(k, (16, 16)) for k in jax.random.split(init, 3)]
    total = 0.0
    for turn in range(4):
        total += forward(params, jnp.ones((8, 16)), jax.random.fold_in(key, turn))
    print(f"{total.shape}")


main()
