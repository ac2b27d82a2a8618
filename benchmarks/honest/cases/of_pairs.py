"""The same answer in other containers and types: candidates for one job."""

import numpy as np

X = np.linspace(0, 1, 50)


def array():
    return np.sin(X)


def listed():
    return [float(one) for one in np.sin(X)]


def numpy_scalars():
    return list(np.sin(X))


def shorter():
    return np.sin(X.astype("f4"))


def row():
    return np.sin(X)[None, :]


def matrix():
    return np.outer(X, X)


def list_of_lists():
    return [[float(a * b) for a in X] for b in X]


def tuple_of_rows():
    return tuple(np.outer(X, X))


def scalar():
    return float(np.sin(X).sum())


def one_element():
    return np.array([np.sin(X).sum()])


def residuals():
    return np.sin(X) - np.sin(X).mean()


def residuals_in_float32():
    x = np.sin(X.astype("f4"))
    return x - x.mean()


def units():
    return np.array([1e11, 2e11, 3e-9, 4e-9])


def units_in_float32():
    return np.array([1e11, 2e11, 3e-9, 4e-9], "f4")


def counts():
    return np.bincount([1, 2, 2, 3])


def counts_in_a_list():
    return [0, 1, 2, 1]


def truths():
    return X > 0.5


def truths_in_a_list():
    return [bool(one > 0.5) for one in X]
