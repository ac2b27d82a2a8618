"""The gradient of a small network's loss, for each example by itself.

What it stands for: methods that need more than the batch's mean gradient: private training,
which clips each example's, influence of single examples, the noise of gradients, Fisher
information.

What is computed: a perceptron with one hidden layer of ``tanh`` (32 → 64 → 10) that answers ten
yes-or-no questions about each example; its loss is the sum of the ten binary cross-entropies.
The answer is that loss's gradient by the two matrices and two offsets, with the example as the
first axis: 2,762 numbers for each.

What to look at: writing the loss of one example and composing ``vmap(grad(loss))``, in JAX and
in PyTorch, against a derivative by hand in NumPy and Numba. The arithmetic is small and most of
the work is writing the answer to memory, so that warm figures differ by the number of passes
over it and by what composing costs when it is done again on every call, as it is eagerly. In the
cold figures, tracing has two transformations to go through.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np

    Function = Callable[..., Any]
    Wrap = Callable[[Function], Function]

NAME = "per_example_grads"
SIZES = (256, 1024)
SIZE_MEANING = "n examples; 32 features, 64 hidden units, 10 labels"
DTYPES = ("f32", "f64")
LAYOUT = "C-contiguous (row-major) arrays: a batch, its labels, 4 parameters"
BASELINE = "numpy"
FEATURES = 32
HIDDEN = 64
LABELS = 10

# Largest error of NumPy, JAX, PyTorch (eager and compiled) and Numba at all sizes, five seeds:
# 4.9e-7 in f32, 7.9e-16 in f64, over the largest magnitude; of single numbers 3e-6 in f32 and
# 4.5e-15 in f64. A few times as much leaves room for other BLAS kernels and orders of summation,
# and still refuses a lower precision such as TF32 (about 1e-3).
TOLERANCE = {"f32": 1e-5, "f64": 2e-14}


def inputs(rng: "np.random.Generator", size: int, dtype: str) -> "list[np.ndarray[Any, Any]]":
    """Return batch, labels (0 or 1) and parameters.

    Weights are scaled by the square root of their fan-in, so that no ``tanh`` saturates.
    """
    arrays = (
        rng.standard_normal((size, FEATURES)),
        rng.integers(0, 2, (size, LABELS)),
        rng.standard_normal((FEATURES, HIDDEN)) / FEATURES**0.5,
        rng.standard_normal(HIDDEN) * 0.1,
        rng.standard_normal((HIDDEN, LABELS)) / HIDDEN**0.5,
        rng.standard_normal(LABELS) * 0.1,
    )
    return [array.astype(dtype) for array in arrays]


def reference(*arrays: "np.ndarray[Any, Any]") -> "list[np.ndarray[Any, Any]]":
    """Return the gradients of float64 inputs, one example after another.

    The chain rule is applied from the front: the Jacobian of the ten outputs by each parameter,
    then its product with the derivative of the loss by the outputs.
    """
    import numpy as np

    x, labels, w1, b1, w2, b2 = arrays
    gradients = []
    for one, label in zip(x, labels, strict=True):
        hidden = np.tanh(b1 + np.einsum("i,ij->j", one, w1))
        outputs = b2 + np.einsum("j,jk->k", hidden, w2)
        by_outputs = (np.tanh(outputs / 2) + 1) / 2 - label
        by_b1 = ((1 - hidden**2)[:, None] * w2) @ by_outputs
        gradients.append(
            (np.outer(one, by_b1), by_b1, np.outer(hidden, by_outputs), by_outputs),
        )
    return [np.stack(parts) for parts in zip(*gradients, strict=True)]


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: the derivative by hand, for the whole batch at once."""
    import numpy as np

    def per_example_grads(x: "Any", labels: "Any", *params: "Any") -> "tuple[Any, ...]":
        w1, b1, w2, b2 = params
        hidden = np.tanh(x @ w1 + b1)
        d2 = 1 / (1 + np.exp(-(hidden @ w2 + b2))) - labels
        d1 = (d2 @ w2.T) * (1 - hidden * hidden)
        return x[:, :, None] * d1[:, None, :], d1, hidden[:, :, None] * d2[:, None, :], d2

    return wrap(per_example_grads)


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: ``vmap(grad(loss))`` of the loss of one example."""
    import jax
    import jax.numpy as jnp

    def loss_of(params: "Any", x: "Any", labels: "Any") -> "Any":
        w1, b1, w2, b2 = params
        hidden = jnp.tanh(jnp.matmul(x, w1, precision="highest") + b1)
        outputs = jnp.matmul(hidden, w2, precision="highest") + b2
        return jnp.sum(jax.nn.softplus(outputs) - labels * outputs)

    gradients = jax.vmap(jax.grad(loss_of), in_axes=(None, 0, 0))

    def per_example_grads(x: "Any", labels: "Any", *params: "Any") -> "tuple[Any, ...]":
        answer: tuple[Any, ...] = gradients(params, x, labels)
        return answer

    return wrap(per_example_grads)


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: ``vmap(grad(loss))`` of the loss of one example."""
    import torch
    from torch.func import grad, vmap
    from torch.nn.functional import binary_cross_entropy_with_logits

    def loss_of(params: "Any", x: "Any", labels: "Any") -> "Any":
        w1, b1, w2, b2 = params
        outputs = torch.tanh(x @ w1 + b1) @ w2 + b2
        return binary_cross_entropy_with_logits(outputs, labels, reduction="sum")

    gradients = vmap(grad(loss_of), in_dims=(None, 0, 0))

    def per_example_grads(x: "Any", labels: "Any", *params: "Any") -> "tuple[Any, ...]":
        answer: tuple[Any, ...] = gradients(params, x, labels)
        return answer

    return wrap(per_example_grads)


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: products by BLAS, then one loop that writes the answer.

    The constants are of the arrays' own type: a Python number would make the arithmetic
    float64 for float32 arrays.
    """
    import numpy as np

    def per_example_grads(x: "Any", labels: "Any", *params: "Any") -> "tuple[Any, ...]":
        w1, b1, w2, b2 = params
        one = x.dtype.type(1)
        hidden = np.tanh(np.dot(x, w1) + b1)
        d2 = one / (one + np.exp(-(np.dot(hidden, w2) + b2))) - labels
        d1 = np.dot(d2, w2.T) * (one - hidden * hidden)

        by_w1 = np.empty((len(x), *w1.shape), x.dtype)
        by_w2 = np.empty((len(x), *w2.shape), x.dtype)
        for n in range(len(x)):
            for i in range(w1.shape[0]):
                for j in range(w1.shape[1]):
                    by_w1[n, i, j] = x[n, i] * d1[n, j]
            for j in range(w2.shape[0]):
                for k in range(w2.shape[1]):
                    by_w2[n, j, k] = hidden[n, j] * d2[n, k]
        return by_w1, d1, by_w2, d2

    return wrap(per_example_grads)
