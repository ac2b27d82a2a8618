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
        "file": "_per_example.py",
        "regime": "warm",
        "variables": {"JAX_PLATFORMS": "cpu"},
        "seconds": 60.0,
        "tolerance": 1e-3,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/101/transformations.html",)


def judge(seen):
    """Decide by the rule."""
    return seen.at_least(seen.ratio("torch_loop", "jax_vmap", "warm_call"), 2.0)
