"""The slope of a spectrum, from photons that arrive one by one and are kept in a list."""

import random

import numba
import numpy as np


@numba.njit
def log_likelihood(energies, slope):
    total = 0.0
    for energy in energies:
        total += np.log(slope - 1) - slope * np.log(energy)
    return total


class Detector:
    """Collects photons above a threshold of 1."""

    def __init__(self, seed):
        self.source = random.Random(seed)
        self.energies = []

    def observe(self, n, slope):
        for _ in range(n):
            self.energies.append((1 - self.source.random()) ** (1 / (1 - slope)))

    def score(self, slope):
        return log_likelihood(self.energies, slope)


detector = Detector(3)
detector.observe(120_000, 2.3)
slopes = np.linspace(2.0, 2.6, 7)
best = max(slopes, key=detector.score)
print(f"slope {best:.1f}")
