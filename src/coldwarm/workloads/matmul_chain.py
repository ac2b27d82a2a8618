"""A hundred matrix products, each waiting for the one before.

What it stands for: a loop whose body is a library call, such as power iteration, a Markov
chain or time steps of a linear system. The loop belongs to Python, or to the compiler.

What is computed: ``y = y @ x``, 100 times. ``y`` starts as standard normal numbers. ``x`` is
orthogonal: a Hadamard matrix divided by √n, with its rows permuted and the signs of its rows
and columns drawn at random. An orthogonal factor neither stretches nor shrinks, so the answer
stays as large as the input and rounding errors add up instead of being amplified.

What to look at: warm, all candidates do the same hundred BLAS calls, and what one call adds
to each is small. Cold, it matters how the loop is written down: JAX compiles one body
(``lax.fori_loop``), whereas ``torch.compile`` unrolls a hundred products and compiles them all.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "matmul_chain"
SIZES = (512,)
SIZE_MEANING = "n of two n×n matrices; a power of two"
DTYPES = ("f32", "f64")
LAYOUT = "two C-contiguous (row-major) n×n arrays"
BASELINE = "numpy"
PRODUCTS = 100

# Largest error of NumPy, JAX, PyTorch (eager and compiled) and Numba at all sizes, five seeds:
# 4.2e-6 in f32, 9.9e-15 in f64. Six to nine times as much leaves room for other BLAS kernels and
# orders of summation, and still refuses a lower precision such as TF32 (about 1e-3).
TOLERANCE = {"f32": 3e-5, "f64": 7e-14}


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return the start and the orthogonal factor.

    Built from signs and one division, without linear algebra, so that every machine makes
    the same bits.

    Raises:
        ValueError: ``size`` is not a power of two.
    """
    import numpy as np

    if size < 1 or size & (size - 1):
        msg = f"matmul_chain needs a power of two as its size, not {size}; try 256 or 512"
        raise ValueError(msg)
    hadamard = np.ones((1, 1))
    while len(hadamard) < size:
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    start = rng.standard_normal((size, size))
    signs = rng.choice((-1.0, 1.0), size=(2, size))
    mixed = hadamard[rng.permutation(size)] * signs[0][:, None] * signs[1]
    return [start.astype(dtype), (mixed / np.sqrt(size)).astype(dtype)]


def reference(*arrays: "Array") -> "list[Array]":
    """Return the last product of float64 inputs."""
    y, x = arrays
    for _ in range(PRODUCTS):
        y = y @ x
    return [y]


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: a Python loop."""

    def matmul_chain(y: "Any", x: "Any") -> "Any":
        for _ in range(PRODUCTS):
            y = y @ x
        return y

    return wrap(matmul_chain)


def for_jax(wrap: "Wrap") -> "Function":
    """Build the compiled JAX candidate: one loop body for the compiler."""
    import jax
    import jax.numpy as jnp

    def matmul_chain(y: "Any", x: "Any") -> "Any":
        def product(_: "Any", carry: "Any") -> "Any":
            return jnp.matmul(carry, x, precision="highest")

        return jax.lax.fori_loop(0, PRODUCTS, product, y)

    return wrap(matmul_chain)


def for_jax_eager(wrap: "Wrap") -> "Function":
    """Build the eager JAX candidate: a Python loop.

    ``lax.fori_loop`` outside ``jit`` compiles its body, and would not be eager.
    """
    import jax.numpy as jnp

    def matmul_chain(y: "Any", x: "Any") -> "Any":
        for _ in range(PRODUCTS):
            y = jnp.matmul(y, x, precision="highest")
        return y

    return wrap(matmul_chain)


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: a Python loop, which ``torch.compile`` unrolls."""
    return for_numpy(wrap)


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: the loop compiled, the products handed to BLAS."""
    import numpy as np

    def matmul_chain(y: "Any", x: "Any") -> "Any":
        for _ in range(PRODUCTS):
            y = np.dot(y, x)
        return y

    return wrap(matmul_chain)
