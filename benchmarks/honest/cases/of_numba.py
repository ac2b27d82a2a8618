"""Numba: compiled at the top of a module, with a cache, on columns and records."""

import numba
import numpy as np
from numba import njit, vectorize

TABLE = np.arange(3000.0).reshape(1000, 3)


@njit(cache=True)
def total(x):
    out = 0.0
    for one in x:
        out += one
    return out


@njit
def smoothed(x):
    out = np.empty_like(x)
    for n in range(x.size):
        out[n] = x[max(n - 2, 0) : n + 3].mean()
    return out


@vectorize(["float64(float64)"])
def cubed(x):
    return x * x * x


@njit(parallel=True)
def in_parallel(x):
    out = np.empty_like(x)
    for n in numba.prange(x.size):
        out[n] = x[n] ** 2
    return out


@njit
def pairs(x):
    found = {0: 0.0}
    for one in x:
        key = int(one) % 7
        found[key] = (found[key] if key in found else 0.0) + one
    return found


def of_a_column():
    return total, (TABLE[:, 1],)


def of_a_contiguous_array():
    return total, (np.arange(1000.0),)


def of_a_transposed_array():
    return (lambda x: smoothed(x[0])), (TABLE.T,)


def of_a_reversed_array():
    return smoothed, (np.arange(1000.0)[::-1],)


def read_only():
    x = np.arange(1000.0)
    x.flags.writeable = False
    return total, (x,)


def element_by_element():
    return cubed, (np.arange(100.0),)


def on_threads():
    return in_parallel, (np.arange(1000.0),)


def typed_dictionary():
    return (lambda x: dict(pairs(x))), (np.arange(100.0),)
