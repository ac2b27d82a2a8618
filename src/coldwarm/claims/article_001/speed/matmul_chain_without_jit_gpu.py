"""Without jit, the chain of 100 matrix products is slower in JAX than in PyTorch on a GPU."""

ARTICLE = {
    "article": "001",
    "place": "The JIT Wall",
    "figure": "0.0095 s against 0.0087 s",
    "low": 1.09,
}
QUANTITY = "A warm call of the chain in JAX without jit over one in eager PyTorch."
PROTOCOL = """
Both square a permutation matrix 100 times in float32 (512 × 512, as in the source),
operation by operation. Fresh processes, warm calls, results waited for.
"""
RULE = """
Confirmed where the interval of the ratio lies above 1, refuted where it lies below, otherwise
inconclusive.
"""
NEEDS = "gpu"
BENCHES = (
    {
        "name": "chain",
        "candidates": ("on_gpu.torch_eager", "on_gpu.jax_eager"),
        "grid": {"width": (512,)},
        "file": "_matmul_chain.py",
        "regime": "warm",
        "seconds": 60.0,
    },
)


def judge(seen):
    """Decide by the rule."""
    return seen.at_least(seen.ratio("jax_eager", "torch_eager", "warm_call"), 1.0)
