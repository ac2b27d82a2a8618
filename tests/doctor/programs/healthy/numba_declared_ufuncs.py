"""Ufuncs whose types are all declared: each is compiled for every one of them, once."""

import numpy as np
from numba import cfunc, guvectorize, vectorize


@vectorize(["float32(float32)", "float64(float64)", "complex64(complex64)", "complex128(complex128)"])
def doubled(x):
    return 2 * x


@guvectorize(["void(float64[:], float64[:])", "void(float32[:], float32[:])"], "(n)->(n)")
def smoothed(values, out):
    last = values[0]
    for at in range(values.shape[0]):
        last = 0.9 * last + 0.1 * values[at]
        out[at] = last


@cfunc("float64(float64)")
def kernel(x):
    return x * x


def main():
    grid = np.linspace(0.0, 1.0, 12)
    for _ in range(20):
        grid = smoothed(doubled(grid)) / 2
    print(round(float(grid.sum()), 3), doubled(1j), kernel.ctypes(3.0))


main()
