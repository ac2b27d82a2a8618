"""On a CPU, jit gains moderately."""

ARTICLE = {
    "article": "002",
    "place": "Hardware-specific considerations: JIT benefit",
    "figure": "moderate",
}
QUANTITY = "A warm call of a training step without jit over one with it, on a CPU."
PROTOCOL = """
The loss and gradients of an MLP (64-128-1, batch 256, float32), outside jit and inside. Fresh
processes, warm calls.
"""
RULE = """
Moderate is taken as more than 1.25 and less than 10, where the same table has 10 to 100 for GPUs.
Confirmed where the interval lies inside, refuted where it lies outside, otherwise inconclusive.
"""
BENCHES = (
    {
        "name": "step",
        "candidates": ("jitted", "eager"),
        "file": "_training_step.py",
        "variables": {"JAX_PLATFORMS": "cpu"},
        "regime": "warm",
        "seconds": 40.0,
        "tolerance": 1e-3,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)


def judge(seen):
    """Decide by the rule."""
    return seen.within(seen.ratio("eager", "jitted", "warm_call"), 1.25, 10.0)
