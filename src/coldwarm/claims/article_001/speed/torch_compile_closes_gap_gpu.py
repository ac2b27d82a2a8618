"""`torch.compile` closes the gap between PyTorch and jitted JAX on a GPU."""

ARTICLE = {
    "article": "001",
    "place": "FAQ",
    "figure": "torch.compile() closes the performance gap",
}
QUANTITY = "A warm call of a chain of elementwise operations, compiled by PyTorch, over jitted JAX."
PROTOCOL = """
Twenty turns of a tanh, a product and a sum over 10,000,000 numbers of float32: work where
compiling pays, because it can be done in one pass over memory. Eager PyTorch, `torch.compile` and
`jax.jit` in fresh processes, warm calls, results waited for.
"""
RULE = """
Inconclusive where eager PyTorch is not surely slower than jitted JAX, as there is no gap then.
Otherwise confirmed where the interval of compiled PyTorch over jitted JAX lies below 1.25, refuted
where it lies above, inconclusive between.
"""
NEEDS = "gpu"
BENCHES = (
    {
        "name": "elementwise",
        "candidates": ("on_gpu.jax_jit", "on_gpu.torch_eager", "on_gpu.torch_compiled"),
        "file": "_elementwise_chain.py",
        "regime": "warm",
        "seconds": 120.0,
        "tolerance": 1e-3,
    },
)


def judge(seen):
    """Decide by the rule."""
    gap = seen.ratio("torch_eager", "jax_jit", "warm_call")
    left = seen.ratio("torch_compiled", "jax_jit", "warm_call")
    return seen.at_most(left, 1.25) if gap.low > 1.0 else "inconclusive"
