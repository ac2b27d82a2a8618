"""Scores of sentences of any length."""

import functools

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def score(table, tokens):
    vectors = table[tokens]
    weights = jax.nn.softmax(vectors @ vectors.mean(axis=0))
    return weights @ vectors


def sentences(n):
    rng = np.random.default_rng(0)
    for i in range(n):
        yield rng.integers(0, 1000, size=5 + i)


def main():
    table = jnp.sin(jnp.arange(16000.0).reshape(1000, 16))
    scorer = functools.partial(score, table)
    results = [scorer(tokens) for tokens in sentences(16)]
    print(f"{np.mean([np.asarray(result).mean() for result in results]):.2f}")


if __name__ == "__main__":
    main()
