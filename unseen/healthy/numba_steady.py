"""Numba as it should be: one signature, warmed up, then timed, with parallel helpers."""

import time

import numba
import numpy as np


@numba.njit
def relax(grid):
    out = grid.copy()
    for i in range(1, grid.shape[0] - 1):
        for j in range(1, grid.shape[1] - 1):
            out[i, j] = 0.25 * (grid[i - 1, j] + grid[i + 1, j] + grid[i, j - 1] + grid[i, j + 1])
    return out


@numba.vectorize(["float64(float64)", "float32(float32)"])
def squash(x):
    return x / (1.0 + abs(x))


grid = np.zeros((64, 64))
grid[0] = 1.0
relax(grid)
begin = time.perf_counter()
for _ in range(50):
    grid = relax(grid)
seconds = time.perf_counter() - begin
print(squash(grid).sum() > 0, seconds < 60)
