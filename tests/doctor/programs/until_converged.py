"""Power iteration until the vector no longer changes."""

import jax
import jax.numpy as jnp


@jax.jit
def iterate(matrix, vector):
    new = matrix @ vector
    new = new / jnp.linalg.norm(new)
    return new, jnp.abs(new - vector).max()


def dominant(matrix, tolerance):
    vector = jnp.ones(matrix.shape[0]) / 10.0
    change = jnp.inf
    turns = 0
    while change > tolerance and turns < 1000:
        vector, change = iterate(matrix, vector)
        turns += 1
    return vector @ matrix @ vector, turns


if __name__ == "__main__":
    n = 200
    matrix = jnp.diag(1.0 - 0.004 * jnp.arange(n)) + 0.0001
    value, turns = dominant(matrix, 0.0)
    print(f"{value:.2f}", turns > 100)
