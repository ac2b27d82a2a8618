"""A recurrent network over a sequence: forward, and back through time.

What it stands for: a loop in which each step needs the one before, and whose derivative runs it
again backwards: recurrent networks, filters, simulations that are fitted to data.

What is computed: from ``h = 0``, 32 times, ``h = tanh(x·W + h·U + c)`` for a batch of 32 with 16
features; after each step 8 outputs ``h·V`` and, over all steps, their mean squared error. The
answer is that loss and its gradient by W, U, c and V.

What to look at: how the loop is written down. In JAX it is ``lax.scan``: one body is traced and
compiled, however long the sequence. ``torch.compile`` unrolls the loop, forward and backward, so
that its first call grows with the number of steps. Eager frameworks pay for each small operation
of each step and keep a record of it for the way back. NumPy and Numba have that way back written
by hand; warm, a step is little more than one product of a tuned library, there and back again.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "rnn_scan"
SIZES = (64, 256)
SIZE_MEANING = "n hidden units; 32 steps, batch 32"
DTYPES = ("f32", "f64")
LAYOUT = (
    "C-contiguous (row-major) arrays: inputs and targets by step, example, feature; 4 parameters"
)
BASELINE = "numpy"
STEPS = 32
BATCH = 32
FEATURES = 16
OUTPUTS = 8

# Largest error of NumPy, JAX, PyTorch (eager and compiled) and Numba at all sizes, five seeds:
# 2.4e-6 in f32, 8.7e-15 in f64. Eight times as much leaves room for other BLAS kernels and orders
# of summation, and still refuses a lower precision such as TF32 (about 1e-3).
TOLERANCE = {"f32": 2e-5, "f64": 7e-14}


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return the sequences, their targets and the parameters.

    Weights are scaled by the square root of their fan-in: the state neither dies out nor
    saturates, and early steps still count in the gradient.
    """
    arrays = (
        rng.standard_normal((STEPS, BATCH, FEATURES)),
        rng.standard_normal((STEPS, BATCH, OUTPUTS)),
        rng.standard_normal((FEATURES, size)) * (0.5 / FEATURES**0.5),
        rng.standard_normal((size, size)) / size**0.5,
        rng.standard_normal(size) * 0.1,
        rng.standard_normal((size, OUTPUTS)) / size**0.5,
    )
    return [array.astype(dtype) for array in arrays]


def reference(*arrays: "Array") -> "list[Array]":
    """Return loss and gradient of float64 inputs, each parameter's by one contraction.

    The adjoints of all steps come first; a gradient is then one sum over steps and examples.
    """
    import numpy as np

    x, target, w, u, c, v = arrays
    states = np.zeros((STEPS + 1, x.shape[1], len(u)))
    for step in range(STEPS):
        joined = np.concatenate((x[step], states[step]), axis=1)
        states[step + 1] = np.tanh(joined @ np.concatenate((w, u)) + c)
    error = np.einsum("tbj,jk->tbk", states[1:], v) - target

    adjoints = np.einsum("tbk,jk->tbj", error, v) * (2 / error.size)
    slopes = 1 - states[1:] ** 2
    adjoints[-1] *= slopes[-1]
    for step in reversed(range(STEPS - 1)):
        adjoints[step] = slopes[step] * (adjoints[step] + adjoints[step + 1] @ u.T)
    return [
        np.square(error).mean(),
        np.einsum("tbi,tbj->ij", x, adjoints),
        np.einsum("tbi,tbj->ij", states[:-1], adjoints, optimize=True),
        adjoints.sum(axis=(0, 1)),
        np.einsum("tbj,tbk->jk", states[1:], error) * (2 / error.size),
    ]


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: back through time by hand.

    What needs no earlier step is done for all steps together: fewer calls, larger products.
    """
    import numpy as np

    def rnn_scan(x: "Any", target: "Any", *params: "Any") -> "tuple[Any, ...]":
        w, u, c, v = params
        driven = x @ w + c
        states = np.empty_like(driven)
        h = np.zeros_like(driven[0])
        for step in range(len(x)):
            h = states[step] = np.tanh(driven[step] + h @ u)
        error = states @ v - target
        loss = np.mean(error * error)

        d_outputs = error * (2 / error.size)
        d_driven = d_outputs @ v.T
        slopes = 1 - states * states
        carry = np.zeros_like(h)
        for step in range(len(x) - 1, -1, -1):
            d_driven[step] = (d_driven[step] + carry) * slopes[step]
            carry = d_driven[step] @ u.T
        units = h.shape[1]
        flat = d_driven.reshape(-1, units)
        d_w = x.reshape(-1, x.shape[2]).T @ flat
        d_u = states[:-1].reshape(-1, units).T @ flat[len(h) :]
        d_v = states.reshape(-1, units).T @ d_outputs.reshape(-1, v.shape[1])
        return loss, d_w, d_u, flat.sum(axis=0), d_v

    return wrap(rnn_scan)


def for_jax(wrap: "Wrap") -> "Function":
    """Build the compiled JAX candidate: the gradient of a ``lax.scan``."""
    import jax
    import jax.numpy as jnp

    def loss_of(params: "Any", x: "Any", target: "Any") -> "Any":
        w, u, c, v = params

        def step(h: "Any", drive: "Any") -> "tuple[Any, Any]":
            h = jnp.tanh(drive + jnp.matmul(h, u, precision="highest"))
            return h, h

        driven = jnp.matmul(x, w, precision="highest") + c
        _, states = jax.lax.scan(step, jnp.zeros_like(driven[0]), driven)
        error = jnp.matmul(states, v, precision="highest") - target
        return jnp.mean(error * error)

    return wrap(_with_gradient_in_jax(loss_of))


def for_jax_eager(wrap: "Wrap") -> "Function":
    """Build the eager JAX candidate: the gradient of a Python loop.

    ``lax.scan`` outside ``jit`` compiles its body, and would not be eager. Everything is done
    step by step: taking states apart or together inside the derivative would give every step a
    slice of its own, and eager JAX would compile each of them. The first step leaves out the
    product with a state of zeros, which JAX would compile a second time as another program.
    """
    import jax.numpy as jnp

    def loss_of(params: "Any", x: "Any", target: "Any") -> "Any":
        w, u, c, v = params
        h, total = None, 0
        for features, wanted in zip(x, target, strict=True):
            drive = jnp.matmul(features, w, precision="highest") + c
            h = jnp.tanh(drive if h is None else drive + jnp.matmul(h, u, precision="highest"))
            error = jnp.matmul(h, v, precision="highest") - wanted
            total = total + jnp.sum(error * error)
        return total / target.size

    return wrap(_with_gradient_in_jax(loss_of))


def _with_gradient_in_jax(loss_of: "Function") -> "Function":
    """Return a function that gives a loss and its gradient, one array each."""
    import jax

    loss_and_gradient = jax.value_and_grad(loss_of)

    def rnn_scan(x: "Any", target: "Any", *params: "Any") -> "tuple[Any, ...]":
        loss, gradient = loss_and_gradient(params, x, target)
        return (loss, *gradient)

    return rnn_scan


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: a Python loop and autograd; the loss is what is compiled."""
    import torch

    def loss_of(x: "Any", target: "Any", *params: "Any") -> "Any":
        w, u, c, v = params
        driven = x @ w + c
        h = torch.zeros_like(driven[0])
        states = []
        for drive in driven.unbind():
            h = torch.tanh(drive + h @ u)
            states.append(h)
        error = torch.stack(states) @ v - target
        return (error * error).mean()

    wrapped = wrap(loss_of)

    def rnn_scan(x: "Any", target: "Any", *params: "Any") -> "tuple[Any, ...]":
        leaves = [array.detach().requires_grad_() for array in params]
        loss = wrapped(x, target, *leaves)
        return (loss.detach(), *torch.autograd.grad(loss, leaves))

    return rnn_scan


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: back through time by hand, in one compiled function.

    ``np.dot`` takes two dimensions, so steps and examples share one axis. What is not a product
    is a loop, which Numba compiles sooner than array expressions. The constants are of the
    arrays' own type: a Python number would make the arithmetic float64 for float32 arrays.
    """
    import numpy as np

    def rnn_scan(x: "Any", target: "Any", *params: "Any") -> "tuple[Any, ...]":
        w, u, c, v = params
        number = x.dtype.type
        steps, batch, features = x.shape
        rows, units, outputs = steps * batch, u.shape[0], v.shape[1]
        flat_x, flat_target = x.reshape(rows, features), target.reshape(rows, outputs)

        driven = np.dot(flat_x, w)
        states = np.zeros((batch + rows, units), x.dtype)  # the start, and then after each step
        fed_back = np.empty((batch, units), x.dtype)
        for start in range(0, rows, batch):
            np.dot(states[start : start + batch], u, fed_back)
            for i in range(batch):
                for j in range(units):
                    drive = driven[start + i, j] + c[j]
                    states[batch + start + i, j] = np.tanh(drive + fed_back[i, j])

        after = states[batch:]
        error = np.dot(after, v)
        total = number(0)
        for i in range(rows):
            for k in range(outputs):
                error[i, k] -= flat_target[i, k]
                total += error[i, k] * error[i, k]
                error[i, k] *= number(2 / target.size)

        adjoints = np.dot(error, v.T)
        back = u.T
        d_c = np.zeros_like(c)
        fed_back[:] = number(0)
        for start in range(rows - batch, -1, -batch):
            for i in range(batch):
                for j in range(units):
                    h = after[start + i, j]
                    slope = number(1) - h * h
                    adjoints[start + i, j] = (adjoints[start + i, j] + fed_back[i, j]) * slope
                    d_c[j] += adjoints[start + i, j]
            np.dot(adjoints[start : start + batch], back, fed_back)

        d_w = np.dot(flat_x.T, adjoints)
        d_u = np.dot(states[:rows].T, adjoints)
        d_v = np.dot(after.T, error)
        return np.array(total / number(target.size)), d_w, d_u, d_c, d_v

    return wrap(rnn_scan)
