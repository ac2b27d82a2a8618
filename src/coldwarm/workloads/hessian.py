"""All second derivatives of a function of many variables.

What it stands for: Newton's method, the uncertainties of a fit, Laplace's approximation, the
search for saddle points: whatever needs the curvature and not only the slope.

What is computed: the n×n Hessian of ``f(w) = log Σᵢ exp(aᵢ·w + bᵢ)`` with 1,024 terms. This is
the logarithm of a partition function, or a smooth maximum. Its Hessian is known exactly: with
``pᵢ`` the share of each term in the sum, it is the covariance matrix of the ``aᵢ`` under ``p``.

What to look at: what deriving costs, against knowing. JAX and PyTorch are given ``f`` alone and
derive it twice, for all n directions together: JAX forward over reverse, as ``jax.hessian`` does,
PyTorch reverse over reverse. That takes about twice the arithmetic of the formula by hand that
NumPy and Numba use, as both are ruled by products of the same shape. Cold, the frameworks trace a
function, its derivative and the derivative of that, for a program of a few operations; run
eagerly, they do so on every call.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "hessian"
SIZES = (128, 512)
SIZE_MEANING = "n variables; 1,024 terms"
DTYPES = ("f32", "f64")
LAYOUT = "n variables, a C-contiguous (row-major) 1,024×n array, 1,024 offsets"
BASELINE = "numpy"
TERMS = 1024

# Largest error of NumPy, JAX, PyTorch (eager and compiled) and Numba at all sizes, five seeds:
# 1.2e-6 in f32, 2.7e-15 in f64. Seven to eight times as much leaves room for other BLAS kernels and
# orders of summation, and still refuses a lower precision such as TF32 (about 1e-3).
TOLERANCE = {"f32": 1e-5, "f64": 2e-14}


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return variables, factors and offsets.

    The factors are scaled by the square root of their number, so that the exponents are of
    order one and many terms count.
    """
    arrays = (
        rng.standard_normal(size),
        rng.standard_normal((TERMS, size)) / size**0.5,
        rng.standard_normal(TERMS),
    )
    return [array.astype(dtype) for array in arrays]


def reference(*arrays: "Array") -> "list[Array]":
    """Return the covariance matrix of float64 inputs, centred before it is multiplied."""
    import numpy as np

    w, a, b = arrays
    shares = np.exp(a @ w + b)
    return [np.cov(a, rowvar=False, aweights=shares, ddof=0)]


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: the formula by hand."""
    import numpy as np

    def hessian(w: "Any", a: "Any", b: "Any") -> "Any":
        exponents = a @ w + b
        terms = np.exp(exponents - exponents.max())
        p = terms / terms.sum()
        mean = p @ a
        return (a.T * p) @ a - np.outer(mean, mean)

    return wrap(hessian)


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: ``jax.hessian``, with float32 kept float32.

    The sum is written out. Run eagerly, ``jax.nn.logsumexp`` has JAX compile one small program
    twice; the second is then read from the cache that the first has just filled, and a cold run
    that reads from its cache proves nothing.
    """
    import jax
    import jax.numpy as jnp

    def log_sum(w: "Any", a: "Any", b: "Any") -> "Any":
        exponents = jnp.matmul(a, w, precision="highest") + b
        highest = jax.lax.stop_gradient(jnp.max(exponents))
        return jnp.log(jnp.sum(jnp.exp(exponents - highest))) + highest

    return wrap(jax.hessian(log_sum))


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: reverse over reverse.

    ``torch.func.hessian`` goes forward over reverse. In PyTorch forward mode is several times
    slower here, and what ``torch.compile`` makes of it is not kept in its cache.
    """
    import torch
    from torch.func import grad, jacrev

    def log_sum(w: "Any", a: "Any", b: "Any") -> "Any":
        return torch.logsumexp(a @ w + b, dim=0)

    return wrap(jacrev(grad(log_sum)))


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: the formula by hand, its product handed to BLAS.

    What is not a product is a loop, which Numba compiles sooner than array expressions. Starting
    the sums from the arrays' own type keeps the arithmetic in float32 for float32 arrays.
    """
    import numpy as np

    def hessian(w: "Any", a: "Any", b: "Any") -> "Any":
        terms, variables = a.shape
        p = np.dot(a, w)
        highest, total = p[0] + b[0], p.dtype.type(0)
        for i in range(terms):
            p[i] += b[i]
            highest = max(highest, p[i])
        for i in range(terms):
            p[i] = np.exp(p[i] - highest)
            total += p[i]

        weighted, mean = np.empty_like(a), np.zeros_like(w)
        for i in range(terms):
            share = p[i] / total
            for j in range(variables):
                weighted[i, j] = share * a[i, j]
                mean[j] += weighted[i, j]
        out = np.dot(a.T, weighted)
        for i in range(variables):
            for j in range(variables):
                out[i, j] -= mean[i] * mean[j]
        return out

    return wrap(hessian)
