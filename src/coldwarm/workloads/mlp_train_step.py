"""One training step of a small neural network: forward, backward, update.

What it stands for: fitting a model by gradients. Matrix products, elementwise functions and
reductions in a mix, with a derivative that a framework makes or a person writes.

What is computed: a perceptron with two hidden layers of ``tanh`` (64 → n → n → 8) on a batch
of 256, the mean squared error, its gradient, and an update with momentum:
``v = 0.9·v + gradient``, ``w = w - 0.01·v``. The answer is the loss, the six new parameters and
the six new velocities. The velocities stand beside the parameters because there an error in a
gradient shows at full size, whereas the learning rate hides it in the parameters.

What to look at: the number of small operations. Eager frameworks pay for each of them, a
compiler can merge them, and a start pays for tracing forward *and* backward. NumPy and Numba
use a derivative written by hand; JAX and PyTorch derive it. In PyTorch the loss is what gets
compiled, forward and backward; the update runs eagerly, as in most training loops.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "mlp_train_step"
SIZES = (128, 512)
SIZE_MEANING = "n units in each of two hidden layers; batch 256"
DTYPES = ("f32", "f64")
LAYOUT = "C-contiguous (row-major) arrays: a batch, its targets, 6 parameters, 6 velocities"
BASELINE = "numpy"
BATCH = 256
FEATURES = 64
OUTPUTS = 8
PARAMETERS = 6
RATE = 0.01
MOMENTUM = 0.9

# Largest error of NumPy, JAX, PyTorch (eager and compiled) and Numba at all sizes, five seeds:
# 1.8e-6 in f32, 3.3e-15 in f64. Six to nine times as much leaves room for other BLAS kernels and
# orders of summation, and still refuses a lower precision such as TF32 (about 1e-3).
TOLERANCE = {"f32": 1.5e-5, "f64": 3e-14}


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return batch, targets, parameters and velocities.

    Weights are scaled by the square root of their fan-in, so that no ``tanh`` saturates.
    Velocities are as small as gradients are, so that they do not hide them.
    """
    arrays = [rng.standard_normal((BATCH, FEATURES)), rng.standard_normal((BATCH, OUTPUTS))]
    layers = ((FEATURES, size), (size, size), (size, OUTPUTS))
    for scale in (1.0, 0.01):
        for fan_in, fan_out in layers:
            arrays.append(rng.standard_normal((fan_in, fan_out)) * (scale / fan_in**0.5))
            arrays.append(rng.standard_normal(fan_out) * (0.1 * scale))
    return [array.astype(dtype) for array in arrays]


def reference(*arrays: "Array") -> "list[Array]":
    """Return loss, parameters and velocities after one step on float64 inputs."""
    import numpy as np

    return [np.asarray(array) for array in _step_by_hand(np, *arrays)]


def _step_by_hand(np: "Any", x: "Any", target: "Any", *state: "Any") -> "tuple[Any, ...]":
    """One step in plain NumPy, with the derivative written out."""
    w1, b1, w2, b2, w3, b3 = state[:PARAMETERS]
    velocity = state[PARAMETERS:]

    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    error = h2 @ w3 + b3 - target
    loss = np.mean(error * error)

    d3 = error * (2 / error.size)
    d2 = (d3 @ w3.T) * (1 - h2 * h2)
    d1 = (d2 @ w2.T) * (1 - h1 * h1)
    gradient = (x.T @ d1, d1.sum(0), h1.T @ d2, d2.sum(0), h2.T @ d3, d3.sum(0))

    velocity = tuple(MOMENTUM * v + g for v, g in zip(velocity, gradient, strict=True))
    params = tuple(w - RATE * v for w, v in zip(state, velocity, strict=False))
    return (loss, *params, *velocity)


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: the derivative written by hand."""
    import numpy as np

    def mlp_train_step(x: "Any", target: "Any", *state: "Any") -> "tuple[Any, ...]":
        return _step_by_hand(np, x, target, *state)

    return wrap(mlp_train_step)


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: ``jax.value_and_grad``, and the whole step in one program."""
    import jax
    import jax.numpy as jnp

    def loss_of(params: "Any", x: "Any", target: "Any") -> "Any":
        w1, b1, w2, b2, w3, b3 = params
        h1 = jnp.tanh(jnp.matmul(x, w1, precision="highest") + b1)
        h2 = jnp.tanh(jnp.matmul(h1, w2, precision="highest") + b2)
        error = jnp.matmul(h2, w3, precision="highest") + b3 - target
        return jnp.mean(error * error)

    loss_and_gradient = jax.value_and_grad(loss_of)

    def mlp_train_step(x: "Any", target: "Any", *state: "Any") -> "tuple[Any, ...]":
        params, velocity = state[:PARAMETERS], state[PARAMETERS:]
        loss, gradient = loss_and_gradient(params, x, target)
        velocity = jax.tree.map(lambda v, g: MOMENTUM * v + g, velocity, gradient)
        params = jax.tree.map(lambda w, v: w - RATE * v, params, velocity)
        return (loss, *params, *velocity)

    return wrap(mlp_train_step)


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: the loss compiled, autograd, an update without gradients."""
    import torch

    def loss_of(x: "Any", target: "Any", *params: "Any") -> "Any":
        w1, b1, w2, b2, w3, b3 = params
        h1 = torch.tanh(x @ w1 + b1)
        h2 = torch.tanh(h1 @ w2 + b2)
        error = h2 @ w3 + b3 - target
        return (error * error).mean()

    wrapped = wrap(loss_of)

    def mlp_train_step(x: "Any", target: "Any", *state: "Any") -> "tuple[Any, ...]":
        leaves = [w.detach().requires_grad_() for w in state[:PARAMETERS]]
        loss = wrapped(x, target, *leaves)
        gradient = torch.autograd.grad(loss, leaves)
        with torch.no_grad():
            velocity = [MOMENTUM * v + g for v, g in zip(state[PARAMETERS:], gradient, strict=True)]
            params = [w - RATE * v for w, v in zip(leaves, velocity, strict=True)]
        return (loss.detach(), *params, *velocity)

    return mlp_train_step


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: the derivative written by hand, in one compiled function.

    The constants are of the arrays' own type: a Python number would make the arithmetic
    float64 for float32 arrays. Numba fuses each array expression into one loop.
    """
    import numpy as np

    def mlp_train_step(x: "Any", target: "Any", *state: "Any") -> "tuple[Any, ...]":
        w1, b1, w2, b2, w3, b3, vw1, vb1, vw2, vb2, vw3, vb3 = state
        number = x.dtype.type
        one, rate, keep = number(1), number(RATE), number(MOMENTUM)

        h1 = np.tanh(np.dot(x, w1) + b1)
        h2 = np.tanh(np.dot(h1, w2) + b2)
        error = np.dot(h2, w3) + b3 - target
        loss = np.mean(error * error)

        d3 = error * number(2 / error.size)
        d2 = np.dot(d3, w3.T) * (one - h2 * h2)
        d1 = np.dot(d2, w2.T) * (one - h1 * h1)

        vw1, vb1 = keep * vw1 + np.dot(x.T, d1), keep * vb1 + d1.sum(0)
        vw2, vb2 = keep * vw2 + np.dot(h1.T, d2), keep * vb2 + d2.sum(0)
        vw3, vb3 = keep * vw3 + np.dot(h2.T, d3), keep * vb3 + d3.sum(0)
        params = (
            w1 - rate * vw1,
            b1 - rate * vb1,
            w2 - rate * vw2,
            b2 - rate * vb2,
            w3 - rate * vw3,
            b3 - rate * vb3,
        )
        return np.array(loss), *params, vw1, vb1, vw2, vb2, vw3, vb3

    return wrap(mlp_train_step)
