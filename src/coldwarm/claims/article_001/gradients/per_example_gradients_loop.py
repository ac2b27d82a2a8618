"""Per-example gradients by `vmap(grad)` are much faster than PyTorch's loop over examples."""

ARTICLE = {
    "article": "001",
    "place": "VMAP: The Killer Feature",
    "figure": "loop over the batch (slow)",
}
QUANTITY = "A warm call of PyTorch's loop over 128 examples over `jit(vmap(grad))` of JAX."
PROTOCOL = """
The gradients of a two-layer network (32-64-1) for each of 128 examples: in PyTorch forward and
backward one by one, in JAX by `jit(vmap(grad(loss)))`. Same answer, fresh processes, warm calls.
"""
RULE = """
Confirmed where the interval of the ratio lies above 2, refuted where it lies below, otherwise
inconclusive.
"""
BENCHES = (
    {
        "name": "gradients",
        "candidates": ("jax_vmap", "torch_loop"),
        "regime": "warm",
        "seconds": 60.0,
        "tolerance": 1e-4,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/101/transformations.html",)
EXAMPLES = 128


def jax_vmap():
    """Map the gradient over the examples."""
    import jax
    import jax.numpy as jnp

    def loss(weights, x, y):
        w1, w2 = weights
        return jnp.mean((jnp.tanh(x @ w1) @ w2 - y) ** 2)

    mapped = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))

    @jax.jit
    def gradients(w1, w2, x, y):
        return list(mapped((w1, w2), x, y))

    w1 = jnp.linspace(-0.1, 0.1, 32 * 64).reshape(32, 64)
    w2 = jnp.linspace(-0.1, 0.1, 64).reshape(64, 1)
    x = jnp.linspace(-1.0, 1.0, EXAMPLES * 32).reshape(EXAMPLES, 32)
    return gradients, (w1, w2, x, jnp.ones((EXAMPLES, 1)))


def torch_loop():
    """Go backward for each example by itself."""
    import torch

    def gradients(w1, w2, x, y):
        w1, w2 = w1.clone().requires_grad_(), w2.clone().requires_grad_()
        found = []
        for one, wanted in zip(x, y, strict=True):
            loss = ((torch.tanh(one @ w1) @ w2 - wanted) ** 2).mean()
            found.append(torch.autograd.grad(loss, (w1, w2)))
        return [torch.stack(side) for side in zip(*found, strict=True)]

    w1 = torch.linspace(-0.1, 0.1, 32 * 64).reshape(32, 64)
    w2 = torch.linspace(-0.1, 0.1, 64).reshape(64, 1)
    x = torch.linspace(-1.0, 1.0, EXAMPLES * 32).reshape(EXAMPLES, 32)
    return gradients, (w1, w2, x, torch.ones(EXAMPLES, 1))


def judge(seen):
    """Decide by the rule."""
    return seen.at_least(seen.ratio("torch_loop", "jax_vmap", "warm_call"), 2.0)
