"""Random features: projections from a seed, the same in every call; how often is traced is counted."""

import jax
import jax.numpy as jnp
import numpy as np

TRACED = []


def projection(generator, n):
    return generator.standard_normal((n, 4)).astype(np.float32)


@jax.jit
def features(x):
    TRACED.append(x.shape)
    generator = np.random.default_rng(42)
    w = generator.standard_normal((x.shape[-1], 4)).astype(np.float32)
    v = np.random.default_rng(7).standard_normal(4).astype(np.float32)
    u = projection(np.random.RandomState(3), x.shape[-1])
    return jnp.cos(x @ (w + u) + v)


def main():
    total = 0.0
    for _ in range(10):
        total += features(jnp.ones((5, 6))).sum()
    print(total.shape, len(TRACED))


main()
