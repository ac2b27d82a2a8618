"""A polynomial whose few coefficients are a list, at many points."""

import numba
import numpy as np


@numba.njit
def value_at(coefficients, x):
    total = 0.0
    for one in coefficients:
        total = total * x + one
    return total


coefficients = [0.5, -1.0, 2.0, 0.25]
points = np.linspace(-1.0, 1.0, 500)
print(f"{sum(value_at(coefficients, x) for x in points):.3f}")
