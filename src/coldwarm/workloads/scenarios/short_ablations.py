"""Ten short trainings, each with one ingredient changed.

What it stands for: an ablation study at the size at which one tries it out first. Ten runs of a
small network: with everything, and with one thing changed at a time. Some changes are values
(rate, momentum, weight decay), one is a shape (half of the samples), three are another program
(no skip connection, no normalisation, another activation).

What is computed: regression with two hidden layers of 32, layer normalisation and a skip
connection, mean squared error, 15 steps of gradient descent with momentum and weight decay over
all samples. Each step of the loop is one run: it gives the last loss and the trained parameters.
NumPy and Numba have the derivative written out, and ask for the ingredients while they run; JAX
and PyTorch differentiate, and build a function for each choice of ingredients beforehand, which
is compiled when it is first used.

What to look at: ten runs, four programs, one of them in two shapes. Runs that only change values
show what a run costs once it is compiled; the others what the change cost. Numba compiles by
type, and the ingredients are values to it: it compiles once.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "short_ablations"
SCENARIO = True
SIZES = (256, 2048)
SIZE_MEANING = "samples of the training data, with 16 features"
DTYPES = ("f32",)
TOLERANCE = {"f32": 1e-4}
LAYOUT = "x (samples × 16), targets (samples), w1 (16 × 32), b1, w2 (32 × 32), b2, w3 (32)"
BASELINE = "numpy"

FEATURES, WIDTH = 16, 32
STEPS = 15
EPSILON = 1e-5
FULL = (True, True, False)
NO_SKIP = (False, True, False)
NO_NORM = (True, False, False)
SILU = (True, True, True)
PROGRAMS = (FULL, NO_SKIP, NO_NORM, SILU)
"""Skip connection, normalisation, ``silu`` instead of ``tanh``."""
RUNS = (
    (FULL, 1, (0.05, 0.9, 1e-3)),
    (FULL, 1, (0.05, 0.0, 1e-3)),
    (FULL, 1, (0.05, 0.9, 0.0)),
    (FULL, 1, (0.02, 0.9, 1e-3)),
    (NO_SKIP, 1, (0.05, 0.9, 1e-3)),
    (NO_NORM, 1, (0.05, 0.9, 1e-3)),
    (SILU, 1, (0.05, 0.9, 1e-3)),
    (SILU, 1, (0.02, 0.9, 1e-3)),
    (FULL, 2, (0.05, 0.9, 1e-3)),
    (FULL, 2, (0.02, 0.9, 1e-3)),
)
"""The program, the divisor of the samples, and rate, momentum and weight decay."""


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return samples, targets and the parameters that every run starts from."""
    arrays = [rng.standard_normal((size, FEATURES)), rng.standard_normal(size)]
    for fan_in in (FEATURES, WIDTH):
        arrays.append(rng.standard_normal((fan_in, WIDTH)) / fan_in**0.5)
        arrays.append(rng.standard_normal(WIDTH) * 0.1)
    arrays.append(rng.standard_normal(WIDTH) / WIDTH**0.5)
    return [array.astype(dtype) for array in arrays]


def reference(*arrays: "Array") -> "list[Array]":
    """Return loss and parameters of every run, on float64 inputs."""
    import numpy as np

    runs = for_numpy(lambda function: function)(*arrays)
    return [np.asarray(out) for step in runs for out in step]


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: the derivative written by hand."""
    import numpy as np

    gradients = wrap(_gradients(np))

    def ablations(x: "Any", y: "Any", *start: "Any") -> "Iterator[Any]":
        number = x.dtype.type
        for program, part, settings in RUNS:
            rate, keep, decay = map(number, settings)
            n = len(x) // part
            params, velocity = list(start), [w * 0 for w in start]
            loss = None
            for _ in range(STEPS):
                loss, *slopes = gradients(x[:n], y[:n], *program, *params)
                velocity = [keep * v + g for v, g in zip(velocity, slopes, strict=True)]
                params = [w - rate * (v + decay * w) for w, v in zip(params, velocity, strict=True)]
            yield (loss, *params)

    return ablations


def _gradients(np: "Any") -> "Function":
    """Return loss and gradient in plain NumPy that keeps to the arrays' own type."""

    def gradients(  # noqa: PLR0913, PLR0917 - data, ingredients, parameters
        x: "Any",
        y: "Any",
        skip: bool,  # noqa: FBT001 - as the ingredients stand in a row
        norm: bool,  # noqa: FBT001 - likewise
        silu: bool,  # noqa: FBT001 - likewise
        w1: "Any",
        b1: "Any",
        w2: "Any",
        b2: "Any",
        w3: "Any",
    ) -> "Any":
        number = x.dtype.type
        one, tiny, width = number(1), number(EPSILON), number(WIDTH)

        h1 = np.tanh(np.dot(x, w1) + b1)
        z = np.dot(h1, w2) + b2
        spread = np.ones((z.shape[0], 1), x.dtype)
        if norm:
            z = z - (z.sum(1) / width).reshape(-1, 1)
            spread = np.sqrt((z * z).sum(1) / width + tiny).reshape(-1, 1)
            z = z / spread
        gate = one / (one + np.exp(-z))
        act, slope = np.tanh(z), one - np.tanh(z) ** 2
        if silu:
            act, slope = z * gate, gate * (one + z * (one - gate))
        h2 = act + h1 if skip else act
        error = np.dot(h2, w3) - y
        loss = np.mean(error * error)

        scaled = error * number(2 / y.size)
        g3 = np.dot(h2.T, scaled)
        back = np.outer(scaled, w3)
        dz = back * slope
        if norm:
            centred = dz - (dz.sum(1) / width).reshape(-1, 1)
            dz = (centred - z * ((dz * z).sum(1) / width).reshape(-1, 1)) / spread
        into = np.dot(dz, w2.T)
        d1 = (into + back if skip else into) * (one - h1 * h1)
        return np.array(loss), np.dot(x.T, d1), d1.sum(0), np.dot(h1.T, dz), dz.sum(0), g3

    return gradients


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: a whole step compiled for each program, settings as values."""
    import jax
    import jax.numpy as jnp

    def stepping(skip: bool, norm: bool, silu: bool) -> "Function":  # noqa: FBT001 - in a row
        def loss_of(params: "Any", x: "Any", y: "Any") -> "Any":
            w1, b1, w2, b2, w3 = params
            h1 = jnp.tanh(x @ w1 + b1)
            z = h1 @ w2 + b2
            if norm:
                z = (z - z.mean(1, keepdims=True)) / jnp.sqrt(z.var(1, keepdims=True) + EPSILON)
            h2 = jax.nn.silu(z) if silu else jnp.tanh(z)
            error = (h2 + h1 if skip else h2) @ w3 - y
            return jnp.mean(error * error)

        def step(params: "Any", velocity: "Any", settings: "Any", x: "Any", y: "Any") -> "Any":
            rate, keep, decay = settings
            loss, gradient = jax.value_and_grad(loss_of)(params, x, y)
            velocity = jax.tree.map(lambda v, g: keep * v + g, velocity, gradient)
            params = jax.tree.map(lambda w, v: w - rate * (v + decay * w), params, velocity)
            return loss, params, velocity

        return wrap(step)

    steps = {program: stepping(*program) for program in PROGRAMS}

    def ablations(x: "Any", y: "Any", *start: "Any") -> "Iterator[Any]":
        for program, part, settings in RUNS:
            n = len(x) // part
            params, velocity = start, tuple(jnp.zeros_like(w) for w in start)
            loss, data = None, (x[:n], y[:n])
            for _ in range(STEPS):
                loss, params, velocity = steps[program](params, velocity, settings, *data)
            yield (loss, *params)

    return ablations


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: each program's loss compiled, autograd, an update by hand."""
    import torch

    def losing(skip: bool, norm: bool, silu: bool) -> "Function":  # noqa: FBT001 - in a row
        def loss_of(x: "Any", y: "Any", *params: "Any") -> "Any":
            w1, b1, w2, b2, w3 = params
            h1 = torch.tanh(x @ w1 + b1)
            z = h1 @ w2 + b2
            if norm:
                z = torch.nn.functional.layer_norm(z, (WIDTH,), eps=EPSILON)
            h2 = torch.nn.functional.silu(z) if silu else torch.tanh(z)
            error = (h2 + h1 if skip else h2) @ w3 - y
            return (error * error).mean()

        return wrap(loss_of)

    losses = {program: losing(*program) for program in PROGRAMS}

    def ablations(x: "Any", y: "Any", *start: "Any") -> "Iterator[Any]":
        for program, part, (rate, keep, decay) in RUNS:
            n = len(x) // part
            params = [w.clone().requires_grad_() for w in start]
            velocity = [torch.zeros_like(w) for w in start]
            loss, data = torch.zeros(()), (x[:n], y[:n])
            for _ in range(STEPS):
                loss = losses[program](*data, *params)
                gradient = torch.autograd.grad(loss, params)
                with torch.no_grad():
                    for w, v, g in zip(params, velocity, gradient, strict=True):
                        v.mul_(keep).add_(g)
                        w.sub_(v + decay * w, alpha=rate)
            yield (loss.detach(), *(w.detach() for w in params))

    return ablations


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: NumPy's gradient as it stands, compiled."""
    return for_numpy(wrap)
