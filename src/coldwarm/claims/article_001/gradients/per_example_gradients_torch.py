"""PyTorch has only loops or hooks for per-example gradients."""

ARTICLE = {
    "article": "001",
    "place": "VMAP: The Killer Feature",
    "figure": "in PyTorch, you'd loop",
}
QUANTITY = "A warm call of PyTorch's loop over 128 examples over `torch.func.vmap(grad)`."
PROTOCOL = """
The gradients of a two-layer network (32-64-1) for each of 128 examples, once forward and backward
one by one, once by `torch.func.vmap(torch.func.grad(loss))`. Same answer, eager, fresh processes.
"""
RULE = """
Outdated where `torch.func` gives the same gradients, and the interval of the ratio lies above 2:
there is another way, and it is fast. Confirmed where the interval lies below 2; otherwise
inconclusive.
"""
BENCHES = (
    {
        "name": "gradients",
        "candidates": ("torch_func", "torch_loop"),
        "regime": "warm",
        "seconds": 60.0,
        "tolerance": 1e-4,
    },
)
DOCS = ("https://docs.pytorch.org/tutorials/intermediate/per_sample_grads.html",)
EXAMPLES = 128


def torch_func():
    """Map the gradient over the examples."""
    import torch

    def loss(weights, x, y):
        w1, w2 = weights
        return ((torch.tanh(x @ w1) @ w2 - y) ** 2).mean()

    mapped = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))

    def gradients(w1, w2, x, y):
        return list(mapped((w1, w2), x, y))

    w1 = torch.linspace(-0.1, 0.1, 32 * 64).reshape(32, 64)
    w2 = torch.linspace(-0.1, 0.1, 64).reshape(64, 1)
    x = torch.linspace(-1.0, 1.0, EXAMPLES * 32).reshape(EXAMPLES, 32)
    return gradients, (w1, w2, x, torch.ones(EXAMPLES, 1))


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
    faster = seen.at_least(seen.ratio("torch_loop", "torch_func", "warm_call"), 2.0)
    return {"confirmed": "outdated", "refuted": "confirmed"}.get(faster, faster)
