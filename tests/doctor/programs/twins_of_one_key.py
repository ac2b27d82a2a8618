"""Two towers of one network, made by a function that is given the same key for both."""

import jax
import jax.numpy as jnp


def layer(key, n_in, n_out):
    weights, bias = jax.random.split(key)
    return {
        "w": jax.random.normal(weights, (n_in, n_out)) / n_in**0.5,
        "b": 0.1 * jax.random.normal(bias, (n_out,)),
    }


def tower(params, x):
    return jnp.tanh(x @ params["w"] + params["b"])


def build(key):
    key, query = jax.random.split(key)
    left = layer(query, 16, 8)
    right = layer(query, 16, 8)
    return key, left, right


def main():
    key, left, right = build(jax.random.key(3))
    x = jax.random.normal(key, (4, 16))
    print((tower(left, x) * tower(right, x)).shape)


main()
