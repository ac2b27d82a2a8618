"""Thresholds a signal at several levels."""

import numba
import numpy as np


def count_above(signal, level):
    @numba.njit
    def count(values):
        n = 0
        for value in values:
            if value > level:
                n += 1
        return n

    return count(signal)


def main():
    signal = np.sin(np.arange(1000.0))
    print([count_above(signal, level) for level in (-0.5, 0.0, 0.5, 0.9)])


if __name__ == "__main__":
    main()
