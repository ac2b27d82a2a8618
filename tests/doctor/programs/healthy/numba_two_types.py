"""Numba for two types that the author wrote down, and one function that is called often."""

import numba
import numpy as np


@numba.njit(["f8(f8[::1])", "f4(f4[::1])"])
def norm(x):
    total = x.dtype.type(0.0)
    for value in x:
        total += value * value
    return total**0.5


@numba.njit
def scale(x, factor):
    return x * factor


def main():
    x = np.linspace(0, 1, 100)
    for _ in range(200):
        x = scale(x, 0.99)
    print(f"{norm(x):.3f} {norm(x.astype(np.float32)):.3f}")


if __name__ == "__main__":
    main()
