"""A jitted chain of 100 matrix products is three times as fast as eager PyTorch on the CPU."""

ARTICLE = {
    "article": "001",
    "place": "The JIT Wall",
    "figure": "nearly 3×",
    "low": 3.0,
}
QUANTITY = "A warm call of the chain in eager PyTorch over one in jitted JAX."
PROTOCOL = """
Both square a permutation matrix 100 times in float32 (256 × 256, not the source's 512 × 512, so
that a call stays short);
a permutation stays one, so the products never overflow. Fresh processes, warm calls,
results waited for.
"""
RULE = """
Confirmed where the interval of the ratio lies above 2.4 (80 % of the stated factor), refuted where
it lies below, otherwise inconclusive.
"""
BENCHES = (
    {
        "name": "chain",
        "candidates": ("on_cpu.jax_jit", "on_cpu.torch_eager"),
        "file": "_matmul_chain.py",
        "variables": {"JAX_PLATFORMS": "cpu"},
        "regime": "warm",
        "seconds": 60.0,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
The source measured on a GPU, and with one call of each: its figure for JAX includes neither the
compilation nor a second run, and that for PyTorch includes the start of CUDA. On a CPU
nearly all the time goes into the products themselves.
"""


def judge(seen):
    """Decide by the rule."""
    return seen.at_least(seen.ratio("torch_eager", "jax_jit", "warm_call"), 2.4)
