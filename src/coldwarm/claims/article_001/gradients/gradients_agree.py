"""PyTorch's `backward` adds to gradients that are there; `jax.grad` returns new ones."""

ARTICLE = {
    "article": "001",
    "place": "Gradient Computation Differences",
    "figure": "gradients accumulate in-place",
}
QUANTITY = "How far gradients are from those that are due, relative to the largest gradient."
PROTOCOL = """
One process takes the gradient of a network's loss (16-32-1, batch 64, tanh, float32) in both
frameworks from the same numbers: once, twice in a row, and in PyTorch also twice with `.grad`
emptied between.
"""
RULE = """
Confirmed where all this is so, to 1e-5 of the largest gradient: both frameworks agree after one
call; a second call of `backward` leaves twice as much, and as much as one call where `.grad` was
emptied; a second call of `jax.grad` returns the same as the first. Refuted otherwise.
"""
FACTS = ({"functions": ("apart",)},)
DOCS = (
    "https://docs.jax.dev/en/latest/101/transformations.html",
    "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html",
)


def apart():
    """Take gradients once and twice, and compare them with those that are due."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x, *start = _numbers()

    def loss(weights):
        return jnp.mean((jnp.tanh(x @ weights[0]) @ weights[1]) ** 2)

    slopes = jax.jit(jax.grad(loss))
    weights = [jnp.asarray(w) for w in start]
    ours, again = slopes(weights), slopes(weights)
    due = _backward(x, start, calls=1)
    largest = max(np.abs(one).max() for one in due)

    def from_due(found, times=1):
        pairs = zip(found, due, strict=True)
        return float(max(np.abs(a - times * b).max() for a, b in pairs) / largest)

    return {
        "jax_once": from_due(ours),
        "jax_twice": from_due(again),
        "torch_twice_from_double": from_due(_backward(x, start, calls=2), times=2),
        "torch_emptied": from_due(_backward(x, start, calls=2, empties=True)),
    }


def _backward(x, start, *, calls, empties=False):
    """Return what calls of `backward` leave in `.grad`."""
    import torch

    x, *weights = map(torch.tensor, (x, *start))
    for w in weights:
        w.requires_grad_()
    for _ in range(calls):
        if empties:
            for w in weights:
                w.grad = None
        (torch.tanh(x @ weights[0]) @ weights[1]).square().mean().backward()
    return [w.grad.numpy() for w in weights]


def _numbers():
    import numpy as np

    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype("float32") for shape in ((64, 16), (16, 32), (32, 1))]


def judge(seen):
    """Decide by the rule."""
    names = ("jax_once", "jax_twice", "torch_twice_from_double", "torch_emptied")
    return seen.holds(max(seen.fact("apart", name) for name in names) <= 1e-5)
