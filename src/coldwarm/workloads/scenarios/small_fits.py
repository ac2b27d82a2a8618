"""Two hundred small logistic fits.

What it stands for: fitting the same model to one small data set after the other, as for every
channel of a detector, every gene or every customer. All data sets have one shape, so that what
a framework compiles for the first serves the other 199.

What is computed: logistic regression with five features and an intercept, a small quadratic
penalty, by Newton's method until the largest change of a coefficient is below 1e-8; that takes
five to seven iterations. Each step of the loop is one fit and gives its six coefficients. JAX
compiles one iteration, PyTorch its derivatives, and Python asks whether it has converged, which
waits for the device each time; Numba compiles the whole fit. Where all data sets are there at
once they could be fitted in one batch; here they come one by one.

What to look at: the break-even within one loop. One compile is paid for in the first fit and
has to be earned by 200 calls that are short: what counts is how long a call takes to be
handed over, hardly what it computes.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "small_fits"
SCENARIO = True
SIZES = (100, 2000)
SIZE_MEANING = "observations in each of the 200 data sets"
DTYPES = ("f64",)
TOLERANCE = {"f64": 1e-10}
LAYOUT = "for each fit x (observations × 6, the last column 1) and outcomes 0 or 1"
BASELINE = "numpy"

FITS = 200
FEATURES = 5
PENALTY = 0.1
CONVERGED = 1e-8
MOST = 25
"""Iterations, in case that a fit does not converge."""


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return features and outcomes of each fit, drawn from a model of its own."""
    import numpy as np

    arrays = []
    for _ in range(FITS):
        x = rng.standard_normal((size, FEATURES + 1))
        x[:, -1] = 1
        chance = 1 / (1 + np.exp(-x @ rng.standard_normal(FEATURES + 1)))
        arrays += [x, rng.uniform(size=size) < chance]
    return [array.astype(dtype) for array in arrays]


def reference(*arrays: "Array") -> "list[Array]":
    """Return the coefficients of every fit, on float64 inputs."""
    return list(for_numpy(lambda function: function)(*arrays))


def _pairs(arrays: "tuple[Any, ...]") -> "Iterator[tuple[Any, Any]]":
    """Go through the data sets: features and outcomes."""
    return zip(arrays[::2], arrays[1::2], strict=True)


def _fitting(np: "Any") -> "Function":
    """Return a whole fit in plain NumPy."""

    def fit(x: "Any", y: "Any") -> "Any":
        n_coefficients = x.shape[1]
        ridge = PENALTY * np.eye(n_coefficients)
        beta = np.zeros(n_coefficients)
        for _ in range(MOST):
            chance = 1 / (1 + np.exp(-np.dot(x, beta)))
            gradient = np.dot(x.T, chance - y) + PENALTY * beta
            weighted = x * (chance * (1 - chance)).reshape(-1, 1)
            change = np.linalg.solve(np.dot(x.T, weighted) + ridge, gradient)
            beta = beta - change
            if np.abs(change).max() < CONVERGED:
                break
        return beta

    return fit


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: a fit as a function."""
    import numpy as np

    fit = wrap(_fitting(np))

    def fits(*arrays: "Any") -> "Iterator[Any]":
        for x, y in _pairs(arrays):
            yield fit(x, y)

    return fits


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: one iteration compiled, the convergence asked in Python."""
    import jax.numpy as jnp

    def newton(beta: "Any", x: "Any", y: "Any") -> "Any":
        chance = 1 / (1 + jnp.exp(-x @ beta))
        gradient = x.T @ (chance - y) + PENALTY * beta
        weighted = x * (chance * (1 - chance))[:, None]
        hessian = x.T @ weighted + PENALTY * jnp.eye(x.shape[1], dtype=x.dtype)
        change = jnp.linalg.solve(hessian, gradient)
        return beta - change, jnp.abs(change).max()

    newton = wrap(newton)

    def fits(*arrays: "Any") -> "Iterator[Any]":
        for x, y in _pairs(arrays):
            beta = jnp.zeros(x.shape[1], dtype=x.dtype)
            for _ in range(MOST):
                beta, largest = newton(beta, x, y)
                if largest < CONVERGED:
                    break
            yield beta

    return fits


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: both derivatives compiled, the solver left to PyTorch.

    It has a kernel for that anyway; and Inductor keeps no program in its cache that can raise
    an error, as solving a singular system does.
    """
    import torch

    def derivatives(beta: "Any", x: "Any", y: "Any") -> "Any":
        chance = torch.sigmoid(x @ beta)
        gradient = x.T @ (chance - y) + PENALTY * beta
        weighted = x * (chance * (1 - chance))[:, None]
        ridge = PENALTY * torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
        return gradient, x.T @ weighted + ridge

    derivatives = wrap(derivatives)

    def fits(*arrays: "Any") -> "Iterator[Any]":
        for x, y in _pairs(arrays):
            beta = torch.zeros(x.shape[1], dtype=x.dtype, device=x.device)
            for _ in range(MOST):
                gradient, hessian = derivatives(beta, x, y)
                change = torch.linalg.solve(hessian, gradient)
                beta = beta - change
                if change.abs().max() < CONVERGED:
                    break
            yield beta

    return fits


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: NumPy's fit as it stands, compiled as a whole."""
    return for_numpy(wrap)
