"""Product of two square matrices.

What it stands for: work that one call hands to a tuned library. Linear algebra, filters,
a dense layer: most of the time passes inside one BLAS kernel.

What is computed: ``a @ b`` for two n×n matrices of standard normal numbers.

What to look at: nothing can be fused and nothing is left to a compiler, so in the warm
regime the candidates differ by their BLAS and its threads, and hardly by their framework.
In the cold regime they differ by a great deal: this is the price of a start at its plainest.

``f32`` means products and sums in float32. JAX is asked for the highest precision, as it
would otherwise use TF32 on recent GPUs, which PyTorch and NumPy do not.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "matmul"
SIZES = (512, 1024)
SIZE_MEANING = "n of two n×n matrices"
DTYPES = ("f32", "f64")
LAYOUT = "two C-contiguous (row-major) n×n arrays"
BASELINE = "numpy"

# Largest error of NumPy, JAX, PyTorch (eager and compiled) and Numba at all sizes, five seeds:
# 1.1e-6 in f32, 2.8e-15 in f64. Six to nine times as much leaves room for other BLAS kernels and
# orders of summation, and still refuses a lower precision such as TF32 (about 1e-3).
TOLERANCE = {"f32": 1e-5, "f64": 2e-14}


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return two matrices of standard normal numbers, the same for every dtype up to rounding."""
    return [rng.standard_normal((size, size)).astype(dtype) for _ in range(2)]


def reference(*arrays: "Array") -> "list[Array]":
    """Return the product of float64 inputs."""
    a, b = arrays
    return [a @ b]


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: the operator."""

    def matmul(a: "Any", b: "Any") -> "Any":
        return a @ b

    return wrap(matmul)


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: the operator's function, with float32 kept float32."""
    import jax.numpy as jnp

    def matmul(a: "Any", b: "Any") -> "Any":
        return jnp.matmul(a, b, precision="highest")

    return wrap(matmul)


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: the operator."""
    return for_numpy(wrap)


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: ``np.dot``, which Numba hands to SciPy's BLAS."""
    import numpy as np

    def matmul(a: "Any", b: "Any") -> "Any":
        return np.dot(a, b)

    return wrap(matmul)
