"""Eleven cheap operations on every element of two long arrays.

What it stands for: code that is bound by memory, as residuals, losses, activation functions
and unit conversions are. The arithmetic is next to nothing; moving the numbers is the work.

What is computed, element by element: ``d = x - y``; the pseudo-Huber loss
``h = sqrt(d·d + 1) - 1``; ``b = h·x + y`` clipped to ±4; and ``b·b - d``.

What to look at: fusion. Written in NumPy or run eagerly, each operation reads its operands
from memory and writes a new array. A compiler that fuses the chain reads ``x`` and ``y`` once
and writes once. The warm figures show that factor, and the cold ones what it costs to get it.

The Numba candidate is one explicit loop on one thread, as ``@njit`` gives it; XLA and PyTorch
may use several.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np

    Function = Callable[..., Any]
    Wrap = Callable[[Function], Function]

NAME = "elementwise_chain"
SIZES = (1_000_000, 4_000_000)
SIZE_MEANING = "n elements in each of two arrays"
DTYPES = ("f32", "f64")
LAYOUT = "two contiguous arrays of n elements"
BASELINE = "numpy"

# Largest error of NumPy, JAX, PyTorch (eager and compiled) and Numba at all sizes, five seeds:
# 4.6e-7 in f32, 8.3e-16 in f64, over the largest magnitude; of single numbers 3.3e-6 in f32. A few
# times as much leaves room for fused multiply-adds and other square roots, and still refuses half
# precision (about 1e-3).
TOLERANCE = {"f32": 1e-5, "f64": 6e-15}


def inputs(rng: "np.random.Generator", size: int, dtype: str) -> "list[np.ndarray[Any, Any]]":
    """Return two arrays of standard normal numbers, the same for every dtype up to rounding."""
    return [rng.standard_normal(size).astype(dtype) for _ in range(2)]


def reference(*arrays: "np.ndarray[Any, Any]") -> "list[np.ndarray[Any, Any]]":
    """Return the chain of float64 inputs."""
    import numpy as np

    x, y = arrays
    d = x - y
    b = np.clip((np.sqrt(d * d + 1) - 1) * x + y, -4, 4)
    return [b * b - d]


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: plain expressions."""
    import numpy as np

    def elementwise_chain(x: "Any", y: "Any") -> "Any":
        d = x - y
        h = np.sqrt(d * d + 1) - 1
        b = np.minimum(np.maximum(h * x + y, -4), 4)
        return b * b - d

    return wrap(elementwise_chain)


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: plain expressions."""
    import jax.numpy as jnp

    def elementwise_chain(x: "Any", y: "Any") -> "Any":
        d = x - y
        h = jnp.sqrt(d * d + 1) - 1
        b = jnp.minimum(jnp.maximum(h * x + y, -4), 4)
        return b * b - d

    return wrap(elementwise_chain)


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: plain expressions."""
    import torch

    def elementwise_chain(x: "Any", y: "Any") -> "Any":
        d = x - y
        h = torch.sqrt(d * d + 1) - 1
        b = torch.clamp(h * x + y, -4, 4)
        return b * b - d

    return wrap(elementwise_chain)


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: one loop.

    The constants are of the arrays' own type: a Python number would make the arithmetic
    float64 for float32 arrays.
    """
    import numpy as np

    def elementwise_chain(x: "Any", y: "Any") -> "Any":
        one = x.dtype.type(1)
        limit = x.dtype.type(4)
        out = np.empty_like(x)
        for i in range(x.size):
            d = x[i] - y[i]
            h = np.sqrt(d * d + one) - one
            b = min(max(h * x[i] + y[i], -limit), limit)
            out[i] = b * b - d
        return out

    return wrap(elementwise_chain)
