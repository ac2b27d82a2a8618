"""Collects the times of events in a list of Numba's, one after the other."""

import numpy as np
from numba import njit
from numba.typed import List


@njit
def longest_gap(times):
    gap = 0.0
    for i in range(1, len(times)):
        gap = max(gap, times[i] - times[i - 1])
    return gap


def main():
    rng = np.random.default_rng(1)
    times = List()
    now = 0.0
    for step in rng.exponential(size=900_000):
        now += step
        times.append(now)
    print(f"longest gap {longest_gap(times):.2f}")


if __name__ == "__main__":
    main()
