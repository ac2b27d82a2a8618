"""Draws weights layer by layer, then a bias from the key that was split."""

import jax
import jax.numpy as jnp


def init(key, widths):
    keys = jax.random.split(key, len(widths) - 1)
    shapes = zip(widths[:-1], widths[1:], strict=True)
    weights = [jax.random.normal(k, shape) for k, shape in zip(keys, shapes, strict=True)]
    bias = jax.random.normal(key, (widths[-1],))
    return weights, bias


if __name__ == "__main__":
    weights, bias = init(jax.random.key(11), [4, 8, 2])
    print([w.shape for w in weights], bias.shape, bool(jnp.isfinite(bias).all()))
