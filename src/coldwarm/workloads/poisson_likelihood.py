"""A binned Poisson likelihood with nuisance parameters, and its gradient.

What it stands for: the inner call of a fit in particle physics and astronomy: a histogram of
counts, templates for what it should hold, and systematic uncertainties as parameters with
constraints. A minimiser makes thousands of such calls, each with a few arrays.

What is computed: the negative logarithm of the likelihood, and its derivative by 12 parameters:
the strength μ of the signal s, the sizes p of 3 backgrounds b, which are known to 10 %, and 8
shifts q of shape, each a correlated relative change t of all bins. Bin i expects
``(μ·s_i + Σ_k exp(p_k/10)·b_ki) · exp(Σ_j q_j·t_ji)`` counts, its term is
``expected - count·log(expected)``, and p and q are constrained by ``(Σ p² + Σ q²)/2``. Constants
in the counts are left out. The parameters lie off the minimum, so that the gradient is not zero.

What to look at: the first size, where a call is short. Eager frameworks pay for some thirty small
operations and for recording them, which is most of the call; a compiler merges them, and many calls
are needed to earn its time back. NumPy and Numba use a derivative written by hand; JAX and PyTorch
derive it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "poisson_likelihood"
SIZES = (1_000, 100_000)
SIZE_MEANING = "n bins; 12 parameters"
DTYPES = ("f32", "f64")
LAYOUT = "C-contiguous arrays: 12 parameters, n counts, n of signal, 3×n backgrounds, 8×n shifts"
BASELINE = "numpy"
BACKGROUNDS = 3
SHIFTS = 8
WIDTH = 0.1
"""Relative uncertainty of a background's size."""

# Largest error of NumPy, JAX, PyTorch (eager and compiled) and Numba at all sizes, five seeds:
# 1.8e-6 in f32, 1.8e-14 in f64, both of them from sums over bins that add one after another, and
# from terms that nearly cancel in the gradient. Seven to nine times as much leaves room for other
# logarithms and orders of summation, and still refuses a lower precision (about 1e-3).
TOLERANCE = {"f32": 1.5e-5, "f64": 1.3e-13}


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return parameters, counts, signal, backgrounds and shifts.

    Counts are drawn from another point than the parameters, with 10 to 200 expected in a bin.
    """
    import numpy as np

    place = np.linspace(0, 1, size)
    signal = 30 * np.exp(-0.5 * ((place - rng.uniform(0.4, 0.6)) / 0.05) ** 2)
    slopes = rng.uniform(0.5, 2, (BACKGROUNDS, 1))
    backgrounds = rng.uniform(20, 50, (BACKGROUNDS, 1)) * np.exp(-slopes * place)
    phases = rng.uniform(0, 1, (SHIFTS, 1))
    waves = np.arange(1, SHIFTS + 1)[:, None]
    shifts = 0.03 * np.cos(2 * np.pi * (waves * place + phases))
    counts = rng.poisson(signal + backgrounds.sum(0))
    parameters = rng.normal(0, 0.5, 1 + BACKGROUNDS + SHIFTS)
    parameters[0] = rng.uniform(1.2, 1.6)
    made = (parameters, counts, signal, backgrounds, shifts)
    return [array.astype(dtype) for array in made]


def reference(*arrays: "Array") -> "list[Array]":
    """Return value and gradient of float64 inputs, from the Jacobian of the expected counts."""
    import numpy as np

    parameters, counts, signal, backgrounds, shifts = arrays
    strength, sizes, shapes = np.split(parameters, [1, 1 + BACKGROUNDS])
    factor = np.prod(
        [np.exp(shape * shift) for shape, shift in zip(shapes, shifts, strict=True)], 0
    )
    scaled = [
        np.exp(WIDTH * each) * background
        for each, background in zip(sizes, backgrounds, strict=True)
    ]
    expected = (strength * signal + np.sum(scaled, 0)) * factor
    jacobian = [signal * factor]
    jacobian += [WIDTH * background * factor for background in scaled]
    jacobian += [shift * expected for shift in shifts]
    constrained = np.concatenate([[0.0], sizes, shapes])
    value = np.sum(expected - counts * np.log(expected)) + constrained @ constrained / 2
    return [np.asarray(value), np.asarray(jacobian) @ (1 - counts / expected) + constrained]


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: the derivative written by hand."""
    import numpy as np

    def poisson_likelihood(
        parameters: "Any", counts: "Any", signal: "Any", backgrounds: "Any", shifts: "Any"
    ) -> "tuple[Any, ...]":
        sizes = np.exp(WIDTH * parameters[1 : 1 + BACKGROUNDS])
        factor = np.exp(parameters[1 + BACKGROUNDS :] @ shifts)
        expected = (parameters[0] * signal + sizes @ backgrounds) * factor
        nuisances = parameters[1:]
        value = np.sum(expected - counts * np.log(expected)) + nuisances @ nuisances / 2

        slope = 1 - counts / expected
        gradient = np.empty_like(parameters)
        gradient[0] = (slope * factor) @ signal
        gradient[1 : 1 + BACKGROUNDS] = WIDTH * sizes * (backgrounds @ (slope * factor))
        gradient[1 + BACKGROUNDS :] = shifts @ (slope * expected)
        gradient[1:] += nuisances
        return value, gradient

    return wrap(poisson_likelihood)


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: ``jax.value_and_grad`` of the likelihood."""
    import jax
    import jax.numpy as jnp

    def poisson_likelihood(
        parameters: "Any", counts: "Any", signal: "Any", backgrounds: "Any", shifts: "Any"
    ) -> "Any":
        sizes = jnp.exp(WIDTH * parameters[1 : 1 + BACKGROUNDS])
        shapes = parameters[1 + BACKGROUNDS :]
        factor = jnp.exp(jnp.matmul(shapes, shifts, precision="highest"))
        background = jnp.matmul(sizes, backgrounds, precision="highest")
        expected = (parameters[0] * signal + background) * factor
        constraint = jnp.sum(parameters[1:] ** 2) / 2
        fit = jnp.dot(counts, jnp.log(expected), precision="highest")
        return jnp.sum(expected) - fit + constraint

    return wrap(jax.value_and_grad(poisson_likelihood))


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: the likelihood compiled, and autograd."""
    import torch

    def likelihood_of(
        parameters: "Any", counts: "Any", signal: "Any", backgrounds: "Any", shifts: "Any"
    ) -> "Any":
        sizes = torch.exp(WIDTH * parameters[1 : 1 + BACKGROUNDS])
        factor = torch.exp(parameters[1 + BACKGROUNDS :] @ shifts)
        expected = (parameters[0] * signal + sizes @ backgrounds) * factor
        constraint = (parameters[1:] ** 2).sum() / 2
        return (expected - counts * torch.log(expected)).sum() + constraint

    wrapped = wrap(likelihood_of)

    def poisson_likelihood(parameters: "Any", *data: "Any") -> "tuple[Any, ...]":
        leaf = parameters.detach().requires_grad_()
        value = wrapped(leaf, *data)
        (gradient,) = torch.autograd.grad(value, leaf)
        return value.detach(), gradient

    return poisson_likelihood


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: one loop over bins, with the derivative written by hand.

    Sums over bins are float64 for both dtypes: in one loop of n additions, float32 would lose
    digits. All other constants and numbers are of the arrays' own type.
    """
    import numpy as np

    def poisson_likelihood(
        parameters: "Any", counts: "Any", signal: "Any", backgrounds: "Any", shifts: "Any"
    ) -> "tuple[Any, ...]":
        number = parameters.dtype.type
        one, first = number(1), 1 + BACKGROUNDS
        sizes = np.exp(number(WIDTH) * parameters[1:first])
        total, sums = 0.0, np.zeros(parameters.size)
        for i in range(counts.size):
            background, exponent = number(0), number(0)
            for k in range(BACKGROUNDS):
                background += sizes[k] * backgrounds[k, i]
            for j in range(SHIFTS):
                exponent += parameters[first + j] * shifts[j, i]
            factor = np.exp(exponent)
            expected = (parameters[0] * signal[i] + background) * factor
            total += expected - counts[i] * np.log(expected)
            slope = one - counts[i] / expected
            sums[0] += slope * factor * signal[i]
            for k in range(BACKGROUNDS):
                sums[1 + k] += slope * factor * backgrounds[k, i]
            for j in range(SHIFTS):
                sums[first + j] += slope * expected * shifts[j, i]
        sums[1:first] *= WIDTH * sizes
        for p in range(1, parameters.size):
            sums[p] += parameters[p]
            total += parameters[p] * parameters[p] * number(0.5)
        return np.array(number(total)), sums.astype(parameters.dtype)

    return wrap(poisson_likelihood)
