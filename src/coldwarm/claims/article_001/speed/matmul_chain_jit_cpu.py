"""A jitted chain of matrix products is three times as fast as eager PyTorch on the CPU."""

ARTICLE = {
    "article": "001",
    "place": "The JIT Wall",
    "figure": "nearly 3×",
    "low": 3.0,
}
QUANTITY = "A warm call of the chain in eager PyTorch over one in jitted JAX."
PROTOCOL = """
Both square a permutation matrix 20 times in float32 (the source: 100 times, which takes too long
here), 128, 256 and 512 wide, the last being the source's own width; a permutation stays one, so the
products never overflow. Fresh processes, warm calls, results waited for.
"""
RULE = """
The limit is 2.4 (80 % of the stated factor). Confirmed where the interval of the ratio lies above
it at more than half of the widths; refuted where it does so at none, and lies below at more than
half; depends where it lies above at some and below at others; otherwise inconclusive.
"""
MADE_FOR = "gpu"
BENCHES = (
    {
        "name": "chain",
        "candidates": ("on_cpu.jax_jit", "on_cpu.torch_eager"),
        "grid": {"width": (128, 256, 512)},
        "file": "_matmul_chain.py",
        "variables": {"JAX_PLATFORMS": "cpu"},
        "regime": "warm",
        "seconds": 25.0,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
The source measured on a GPU, and with one call of each: its figure for JAX holds the compilation
too, and that for PyTorch the start of CUDA. On a CPU nearly all the time goes into the products
themselves.
"""


def judge(seen):
    """Decide by the rule."""
    ratios = seen.over_grid("torch_eager", "jax_jit", "warm_call", bench="chain")
    return seen.mostly(ratios, low=2.4)
