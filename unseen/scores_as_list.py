"""Rank the measurements of stations, which come as lists of numbers."""

import csv
import io

import jax
import jax.numpy as jnp

TEXT = "\n".join(
    ",".join(str((3 * row + 7 * column) % 11 / 10) for column in range(200)) for row in range(6)
)


def read(text):
    """Yield the numbers of each row."""
    for row in csv.reader(io.StringIO(text)):
        yield [float(cell) for cell in row]


@jax.jit
def robust_mean(values):
    values = jnp.asarray(values)
    middle = jnp.median(values)
    weights = 1.0 / (1.0 + (values - middle) ** 2)
    return jnp.sum(weights * values) / jnp.sum(weights)


results = [robust_mean(numbers) for numbers in read(TEXT)]
print([round(float(one), 3) for one in results])
