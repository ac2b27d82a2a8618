"""A lazily compiled ufunc that is given columns of many types."""

import numpy as np
from numba import vectorize


@vectorize
def squashed(x):
    return x / (1 + abs(x))


def main():
    columns = {
        "flags": np.arange(6, dtype=np.int8),
        "counts": np.arange(6, dtype=np.int64),
        "speeds": np.linspace(0, 1, 6, dtype=np.float32),
        "phases": np.exp(1j * np.linspace(0, 1, 6)),
    }
    print({name: round(float(abs(squashed(column)).sum()), 3) for name, column in columns.items()})


if __name__ == "__main__":
    main()
