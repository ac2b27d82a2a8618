"""Sweep over widths and learning rates.

What it stands for: trying hyperparameters. Fifteen small networks are trained one after the
other: every width with every learning rate. A new rate is a new value, a new width is new
shapes, and whether either of them costs a compile is the framework's affair.

What is computed: regression with one hidden layer, ``tanh``, mean squared error, 20 steps of
plain gradient descent over all samples. Each step of the loop is one training: it gives the
last loss and the trained parameters. Widths change slowest, so that each new one comes with
the first of its rates. NumPy and Numba have the derivative written out, JAX and PyTorch
differentiate. JAX compiles the gradient step, PyTorch the loss, Numba the whole training,
each where a user would put it; the loops around them are Python.

What to look at: the steps that take long. With ``jax.jit`` each new width is traced and
compiled again and new rates are not; ``torch.compile`` compiles the first width as it is, the
second for any width, and then no more; Numba compiles by type, so once.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "hyperparameter_sweep"
SCENARIO = True
SIZES = (256, 2048)
SIZE_MEANING = "samples that each of the 15 networks is trained on, with 16 features"
DTYPES = ("f32",)
TOLERANCE = {"f32": 1e-4}
LAYOUT = "x (samples × 16), targets (samples), then for each width w1 (16 × w), b1 (w), w2 (w)"
BASELINE = "numpy"

FEATURES = 16
WIDTHS = (8, 16, 24, 32, 48)
RATES = (0.02, 0.05, 0.1)
EPOCHS = 20
PARAMETERS = 3


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return samples, targets, and the first parameters for each width."""
    arrays = [rng.standard_normal((size, FEATURES)), rng.standard_normal(size)]
    for width in WIDTHS:
        arrays.append(rng.standard_normal((FEATURES, width)) / FEATURES**0.5)
        arrays.append(rng.standard_normal(width) * 0.1)
        arrays.append(rng.standard_normal(width) / width**0.5)
    return [array.astype(dtype) for array in arrays]


def reference(*arrays: "Array") -> "list[Array]":
    """Return loss and parameters of every training, on float64 inputs."""
    import numpy as np

    return [np.asarray(out) for step in for_numpy(lambda train: train)(*arrays) for out in step]


def _trials(start: "tuple[Any, ...]") -> "Iterator[tuple[float, tuple[Any, ...]]]":
    """Go through the sweep: a rate, and the parameters to start from."""
    for place in range(len(WIDTHS)):
        first = place * PARAMETERS
        for rate in RATES:
            yield rate, start[first : first + PARAMETERS]


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: the derivative written by hand."""
    import numpy as np

    train = wrap(_training(np))

    def sweep(x: "Any", y: "Any", *start: "Any") -> "Iterator[Any]":
        for rate, params in _trials(start):
            yield train(x, y, x.dtype.type(rate), *params)

    return sweep


def _training(np: "Any") -> "Function":
    """Return a training in plain NumPy that keeps to the arrays' own type."""

    def train(x: "Any", y: "Any", rate: "Any", *params: "Any") -> "Any":
        w1, b1, w2 = params
        number = x.dtype.type
        one, scale = number(1), number(2 / y.size)
        loss = number(0)
        for _ in range(EPOCHS):
            hidden = np.tanh(np.dot(x, w1) + b1)
            error = np.dot(hidden, w2) - y
            loss = np.mean(error * error)
            slope = np.outer(error * scale, w2) * (one - hidden * hidden)
            w2 = w2 - rate * np.dot(hidden.T, error * scale)
            w1 = w1 - rate * np.dot(x.T, slope)
            b1 = b1 - rate * slope.sum(0)
        return np.array(loss), w1, b1, w2

    return train


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: the gradient step compiled, the loops in Python."""
    import jax
    import jax.numpy as jnp

    def loss_of(params: "Any", x: "Any", y: "Any") -> "Any":
        w1, b1, w2 = params
        error = jnp.tanh(x @ w1 + b1) @ w2 - y
        return jnp.mean(error * error)

    def descend(params: "Any", rate: "Any", x: "Any", y: "Any") -> "Any":
        loss, gradient = jax.value_and_grad(loss_of)(params, x, y)
        return loss, jax.tree.map(lambda p, g: p - rate * g, params, gradient)

    descend = wrap(descend)

    def sweep(x: "Any", y: "Any", *start: "Any") -> "Iterator[Any]":
        for rate, params in _trials(start):
            state = None, params
            for _ in range(EPOCHS):
                state = descend(state[1], rate, x, y)
            yield state[0], *state[1]

    return sweep


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: the loss compiled, autograd, an update without gradients."""
    import torch

    def loss_of(x: "Any", y: "Any", w1: "Any", b1: "Any", w2: "Any") -> "Any":
        error = torch.tanh(x @ w1 + b1) @ w2 - y
        return (error * error).mean()

    loss_of = wrap(loss_of)

    def sweep(x: "Any", y: "Any", *start: "Any") -> "Iterator[Any]":
        for rate, first in _trials(start):
            params = [p.clone().requires_grad_() for p in first]
            loss = torch.zeros(())
            for _ in range(EPOCHS):
                loss = loss_of(x, y, *params)
                gradient = torch.autograd.grad(loss, params)
                with torch.no_grad():
                    for p, g in zip(params, gradient, strict=True):
                        p.sub_(g, alpha=rate)
            yield (loss.detach(), *(p.detach() for p in params))

    return sweep


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: NumPy's training as it stands, compiled as a whole."""
    return for_numpy(wrap)
