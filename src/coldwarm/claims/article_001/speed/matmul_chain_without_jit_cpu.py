"""Without jit, a chain of matrix products is slower in JAX than in PyTorch on the CPU."""

ARTICLE = {
    "article": "001",
    "place": "The JIT Wall",
    "figure": "0.0095 s against 0.0087 s",
    "low": 1.09,
}
QUANTITY = "A warm call of the chain in JAX without jit over one in eager PyTorch."
PROTOCOL = """
Both square a permutation matrix 20 times in float32 (the source: 100 times, which takes too long
here), 128, 256 and 512 wide, the last being the source's own width, operation by operation. Fresh
processes, warm calls, results waited for.
"""
RULE = """
Confirmed where the interval of the ratio lies above 1 at more than half of the widths; refuted
where it does so at none, and lies below at more than half; depends where it lies above at some and
below at others; otherwise inconclusive.
"""
MADE_FOR = "gpu"
BENCHES = (
    {
        "name": "chain",
        "candidates": ("on_cpu.torch_eager", "on_cpu.jax_eager"),
        "grid": {"width": (128, 256, 512)},
        "file": "_matmul_chain.py",
        "variables": {"JAX_PLATFORMS": "cpu"},
        "regime": "warm",
        "seconds": 25.0,
    },
)


def judge(seen):
    """Decide by the rule."""
    ratios = seen.over_grid("jax_eager", "torch_eager", "warm_call", bench="chain")
    return seen.mostly(ratios, low=1.0)
