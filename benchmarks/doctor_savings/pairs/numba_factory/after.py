"""Energy of a noble gas for several wells of the Lennard-Jones potential."""

import numpy as np
from numba import njit


@njit
def potential(positions, box, epsilon, sigma):
    n = len(positions)
    forces = np.zeros((n, 3))
    energy = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            step = positions[i] - positions[j]
            step -= box * np.round(step / box)
            r2 = np.sum(step**2)
            if r2 < (2.5 * sigma) ** 2:
                s6 = (sigma**2 / r2) ** 3
                energy += 4.0 * epsilon * (s6**2 - s6)
                pull = 24.0 * epsilon * (2.0 * s6**2 - s6) / r2 * step
                forces[i] += pull
                forces[j] -= pull
    return energy, forces


def relax(epsilon, sigma, positions, box):
    for _ in range(20):
        energy, forces = potential(positions, box, epsilon, sigma)
        size = np.maximum(np.abs(forces).max(), 1.0)
        positions = positions + 0.01 * forces / size
    return energy


rng = np.random.default_rng(1)
grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), -1).reshape(-1, 3) * 1.2
start = grid + 0.05 * rng.normal(size=grid.shape)
for epsilon in (0.6, 0.8, 1.0, 1.2, 1.4, 1.6):
    print(epsilon, np.round(relax(epsilon, 1.0, start, 6.0), 5))
