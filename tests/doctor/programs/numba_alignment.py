"""Scores an alignment cell by cell from Python, with a compiled function for one cell."""

import numpy as np
from numba import njit


@njit
def best_of(diagonal, above, left, same):
    return max(diagonal + (2 if same else -1), above - 2, left - 2)


def align(one, two):
    row = -2 * np.arange(len(two) + 1)
    for i in range(len(one)):
        diagonal, row[0] = row[0], -2 * (i + 1)
        for j in range(len(two)):
            score = best_of(diagonal, row[j + 1], row[j], one[i] == two[j])
            diagonal, row[j + 1] = row[j + 1], score
    return row[-1]


def main():
    rng = np.random.default_rng(3)
    one, two = rng.integers(0, 4, 1500), rng.integers(0, 4, 1500)
    print("score", align(one, two))


if __name__ == "__main__":
    main()
