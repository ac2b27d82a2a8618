"""NumPy: results of every kind that it has."""

import numpy as np

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(200, 5))
MATRIX = RNG.normal(size=(40, 40))


def column_means():
    return TABLE.mean(axis=0)


def eigen():
    return np.linalg.eigh(MATRIX + MATRIX.T)


def decomposition():
    return np.linalg.svd(MATRIX)


def masked():
    return np.ma.masked_less(TABLE, 0).mean(axis=0)


def histogram():
    return np.histogram(TABLE, bins=20)


def structured():
    found = np.zeros(3, dtype=[("name", "U8"), ("mean", "f8")])
    found["name"], found["mean"] = ["a", "b", "c"], TABLE.mean(axis=0)[:3]
    return found


def wave():
    return np.fft.fft(np.sin(np.linspace(0, 8 * np.pi, 256)))


def polynomial():
    return np.polynomial.Polynomial.fit(TABLE[:, 0], TABLE[:, 1], 3).convert().coef


def of_a_column():
    def total(column):
        return np.sort(column).cumsum()

    return total, (TABLE[:, 2],)


def of_a_reversed_view():
    def differences(x):
        return np.diff(x)

    return differences, (TABLE[::-1, 1],)


def drawn_with_a_seed():
    return np.random.default_rng(7).normal(size=1000)
