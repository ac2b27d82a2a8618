"""Statistics of the columns of a table, whatever they are made of."""

import numba
import numpy as np


@numba.njit
def spread(values):
    low = high = values[0]
    for value in values:
        low = min(low, value)
        high = max(high, value)
    return high - low


COLUMNS = {
    "age": np.arange(50, dtype=np.int32),
    "height": np.linspace(1, 2, 50, dtype=np.float32),
    "weight": np.linspace(50, 90, 50),
    "every other": np.linspace(0, 1, 100)[::2],
    "flags": np.arange(50) % 3,
}
results = {name: spread(column) for name, column in COLUMNS.items()}
print(len(results))
