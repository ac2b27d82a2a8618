"""Without jit, the chain of 100 matrix products is slower in JAX than in PyTorch on the CPU."""

ARTICLE = {
    "article": "001",
    "place": "The JIT Wall",
    "figure": "0.0095 s against 0.0087 s",
    "low": 1.09,
}
QUANTITY = "A warm call of the chain in JAX without jit over one in eager PyTorch."
PROTOCOL = """
Both square a permutation matrix 100 times in float32 (256 × 256, not the source's 512 × 512, so
that a call stays short),
operation by operation. Fresh processes, warm calls, results waited for.
"""
RULE = """
Confirmed where the interval of the ratio lies above 1, refuted where it lies below, otherwise
inconclusive.
"""
BENCHES = (
    {
        "name": "chain",
        "candidates": ("on_cpu.torch_eager", "on_cpu.jax_eager"),
        "file": "_matmul_chain.py",
        "variables": {"JAX_PLATFORMS": "cpu"},
        "regime": "warm",
        "seconds": 60.0,
    },
)


def judge(seen):
    """Decide by the rule."""
    return seen.at_least(seen.ratio("jax_eager", "torch_eager", "warm_call"), 1.0)
