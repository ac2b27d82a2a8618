"""Edges by Numba, for points by JAX."""

import jax
import jax.numpy as jnp
import numba
import numpy as np


@numba.njit
def neighbours(points, radius):
    n = 0
    for i in range(points.shape[0]):
        for j in range(i):
            if ((points[i] - points[j]) ** 2).sum() < radius**2:
                n += 1
    return n


@jax.jit
def move(points, dt):
    return points + dt * jnp.stack([-points[:, 1], points[:, 0]], axis=1)


def main():
    points = jnp.sin(jnp.arange(60.0).reshape(30, 2))
    found = 0
    for _ in range(150):
        points = move(points, 0.1)
        found += neighbours(np.asarray(points), 0.3)
    print(found > 0)


if __name__ == "__main__":
    main()
