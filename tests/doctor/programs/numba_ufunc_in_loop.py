"""A sweep that makes a ufunc for each threshold."""

import numpy as np
from numba import float64, vectorize


def sweep(values, limits):
    found = []
    for limit in limits:

        @vectorize([float64(float64)])
        def clipped(x):
            return limit if x > limit else x

        found.append(float(clipped(values).sum()))
    return found


print([round(one, 3) for one in sweep(np.linspace(0, 4, 9), (0.5, 1.0, 1.5, 2.0))])
