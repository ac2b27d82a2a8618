"""`jax.grad` and PyTorch's `backward` give the same gradients."""

ARTICLE = {
    "article": "001",
    "place": "Gradient Computation Differences",
    "figure": "seems like a minor API difference",
}
QUANTITY = "The largest difference of a gradient, relative to the largest gradient."
PROTOCOL = """
One process takes the gradients of a network's loss (64-128-128-1, batch 256, tanh, float32) in both
frameworks, from the same numbers.
"""
RULE = "Confirmed where the difference is at most 1e-5 of the largest gradient; refuted above."
FACTS = ({"functions": ("difference",)},)
DOCS = ("https://docs.jax.dev/en/latest/101/transformations.html",)


def difference():
    """Take gradients in both frameworks."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import torch

    rng = np.random.default_rng(0)
    shapes = ((64, 128), (128, 128), (128, 1))
    start = [(rng.standard_normal(s) / s[0] ** 0.5).astype("float32") for s in shapes]
    x = rng.standard_normal((256, 64)).astype("float32")
    y = rng.standard_normal((256, 1)).astype("float32")

    def loss(weights):
        value = jnp.asarray(x)
        for w in weights[:-1]:
            value = jnp.tanh(value @ w)
        return jnp.mean((value @ weights[-1] - y) ** 2)

    ours = jax.jit(jax.grad(loss))([jnp.asarray(w) for w in start])

    weights = [torch.tensor(w, requires_grad=True) for w in start]
    value = torch.tensor(x)
    for w in weights[:-1]:
        value = torch.tanh(value @ w)
    ((value @ weights[-1] - torch.tensor(y)) ** 2).mean().backward()

    pairs = [(np.asarray(a), b.grad.numpy()) for a, b in zip(ours, weights, strict=True)]
    largest = max(np.abs(b).max() for _, b in pairs)
    return {"difference": float(max(np.abs(a - b).max() for a, b in pairs) / largest)}


def judge(seen):
    """Decide by the rule."""
    return seen.holds(seen.fact("difference", "difference") <= 1e-5)
