"""Texts are padded to one of three lengths, so that there are three programs by design."""

import bisect

import jax
import jax.numpy as jnp
import numpy as np

BUCKETS = (8, 16, 32)


def padded(tokens):
    size = BUCKETS[bisect.bisect_left(BUCKETS, len(tokens))]
    out = np.zeros(size, np.int32)
    out[: len(tokens)] = tokens
    return out, np.arange(size) < len(tokens)


@jax.jit
def score(table, tokens, mask):
    return jnp.sum(jnp.where(mask[:, None], table[tokens], 0), axis=0)


rng = np.random.default_rng(0)
table = jax.random.normal(jax.random.key(0), (100, 8))
for size in BUCKETS:
    tokens, mask = padded(np.ones(size, np.int32))
    score(table, tokens, mask).block_until_ready()
total = jnp.zeros(8)
for length in rng.integers(1, 33, 60):
    tokens, mask = padded(rng.integers(0, 100, length))
    total = total + score(table, tokens, mask)
print(total.shape)
