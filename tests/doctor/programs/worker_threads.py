"""Workers compile a function each for what they get."""

from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp


def solve(size):
    matrix = jnp.eye(size) * 2 + 0.1
    solver = jax.jit(lambda b: jnp.linalg.solve(matrix, b))
    return solver(jnp.ones(size))


with ThreadPoolExecutor(1) as pool:
    answers = list(pool.map(solve, [8, 8, 8, 8, 8]))
print(len(answers))
