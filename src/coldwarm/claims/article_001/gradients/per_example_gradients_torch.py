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
        "file": "_per_example.py",
        "regime": "warm",
        "seconds": 60.0,
        "tolerance": 1e-4,
    },
)
DOCS = ("https://docs.pytorch.org/tutorials/intermediate/per_sample_grads.html",)


def judge(seen):
    """Decide by the rule."""
    faster = seen.at_least(seen.ratio("torch_loop", "torch_func", "warm_call"), 2.0)
    return {"confirmed": "outdated", "refuted": "confirmed"}.get(faster, faster)
