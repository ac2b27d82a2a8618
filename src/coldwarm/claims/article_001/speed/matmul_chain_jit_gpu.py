"""A jitted chain of 100 matrix products is three times as fast as eager PyTorch on a GPU."""

ARTICLE = {
    "article": "001",
    "place": "The JIT Wall",
    "figure": "nearly 3×",
    "low": 3.0,
}
QUANTITY = "A warm call of the chain in eager PyTorch over one in jitted JAX."
PROTOCOL = """
Both square a permutation matrix 100 times in float32 (512 × 512, as in the source);
a permutation stays one, so the products never overflow. Fresh processes, warm calls,
results waited for.
"""
RULE = """
Confirmed where the interval of the ratio lies above 2.4 (80 % of the stated factor), refuted where
it lies below, otherwise inconclusive.
"""
NEEDS = "gpu"
BENCHES = (
    {
        "name": "chain",
        "candidates": ("on_gpu.jax_jit", "on_gpu.torch_eager"),
        "grid": {"width": (512,)},
        "file": "_matmul_chain.py",
        "regime": "warm",
        "seconds": 60.0,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
The source measured one call of each; here calls are warm, so that neither the start of CUDA nor
compiling is in the figure.
"""


def judge(seen):
    """Decide by the rule."""
    return seen.at_least(seen.ratio("torch_eager", "jax_jit", "warm_call"), 2.4)
