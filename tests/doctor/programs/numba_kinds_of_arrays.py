"""The roughness of pictures: as they are, turned, thinned, and of another type."""

import numba
import numpy as np


@numba.njit
def roughness(x):
    total = 0.0
    for i in range(1, x.shape[0]):
        for j in range(1, x.shape[1]):
            total += abs(x[i, j] - x[i - 1, j]) + abs(x[i, j] - x[i, j - 1])
    return total


def main():
    picture = np.arange(64.0).reshape(8, 8) % 7
    views = {
        "plain": picture,
        "turned": picture.T,
        "thinned": picture[::2, ::2],
        "single": picture.astype(np.float32),
        "whole": picture.astype(np.int64),
    }
    for name, view in views.items():
        print(name, f"{roughness(view):.0f}")


if __name__ == "__main__":
    main()
