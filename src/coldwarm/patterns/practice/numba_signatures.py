"""Bring arrays to one type and one layout before they reach a compiled function."""

FRAMEWORK = "numba"
MEASURES = "signatures"
SYMPTOM = "calls with arrays of another kind are slow once"
MECHANISM = """
Numba compiles a function for the types of its arguments, and the type of an array is its dtype, its
number of dimensions and its layout. A transposed view, a strided one and a float32 are a signature
each, and each takes as long as the first.
"""
EXCEPTION = """
Where copies would be large and calls are many, the signatures are the better price; `njit` with a
given signature compiles it at definition.
"""
DOCS = ("https://numba.readthedocs.io/en/stable/user/jit.html",)
TOLERANCE = 1e-5
SECONDS = 40.0


def do():
    """Sum four kinds of arrays, each made contiguous and float64 first."""
    import numba
    import numpy as np

    @numba.njit
    def total(x):
        found = 0.0
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                found += x[i, j] ** 2
        return found

    x = np.arange(64.0).reshape(8, 8)
    kinds = [x, x.T, x[::2, ::2], x.astype(np.float32)]

    def run():
        return [total(np.ascontiguousarray(one, np.float64)) for one in kinds]

    return run, ()


def dont():
    """Sum four kinds of arrays as they come."""
    import numba
    import numpy as np

    @numba.njit
    def total(x):
        found = 0.0
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                found += x[i, j] ** 2
        return found

    x = np.arange(64.0).reshape(8, 8)
    kinds = [x, x.T, x[::2, ::2], x.astype(np.float32)]

    def run():
        return [total(one) for one in kinds]

    return run, ()
