"""On a GPU, jit gains a factor of 10 to 100."""

ARTICLE = {
    "article": "002",
    "place": "Hardware-specific considerations: JIT benefit",
    "figure": "high (10–100×)",
    "low": 10.0,
    "high": 100.0,
}
QUANTITY = "A warm call of a training step without jit over one with it, on a GPU."
PROTOCOL = """
The loss and gradients of an MLP (64-128-1, batch 256, float32), outside jit and inside. Fresh
processes, warm calls.
"""
RULE = """
Confirmed where the interval lies between 8 and 125 (20 % below 10, 25 % above 100), refuted where
it lies outside, otherwise inconclusive.
"""
NEEDS = "gpu"
BENCHES = (
    {
        "name": "step",
        "candidates": ("jitted", "eager"),
        "file": "_training_step.py",
        "regime": "warm",
        "seconds": 40.0,
        "tolerance": 1e-3,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)


def judge(seen):
    """Decide by the rule."""
    return seen.within(seen.ratio("eager", "jitted", "warm_call"), 8.0, 125.0)
