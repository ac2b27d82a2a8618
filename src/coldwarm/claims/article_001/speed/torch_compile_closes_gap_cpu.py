"""`torch.compile` closes the gap between PyTorch and jitted JAX on the CPU."""

ARTICLE = {
    "article": "001",
    "place": "FAQ",
    "figure": "torch.compile() closes the performance gap",
}
QUANTITY = "A warm call of three jobs, compiled by PyTorch, over one of jitted JAX."
PROTOCOL = """
Twenty turns of a tanh, a product and a sum over 200,000 numbers, where compiling pays most; the
answers of a network (64-256-256-1, batch 256); and a step of gradient descent on it. float32. Eager
PyTorch, `torch.compile` and `jax.jit` in fresh processes, warm calls, results waited for. PyTorch
compiles the loss and its gradient, not the update.
"""
RULE = """
Only jobs with a gap count, where eager PyTorch is surely slower than jitted JAX; inconclusive where
there is none. Of these, confirmed where the interval of compiled PyTorch over jitted JAX lies below
1.25 in more than half; refuted where it does so in none, and lies above in more than half; depends
where it lies below in some and above in others; otherwise inconclusive.
"""
MADE_FOR = "gpu"
JOBS = {
    "elementwise": ("_elementwise_chain.py", "on_cpu"),
    "answers": ("_network.py", "answers"),
    "training": ("_network.py", "training"),
}
BENCHES = tuple(
    {
        "name": name,
        "candidates": (f"{of}.jax_jit", f"{of}.torch_eager", f"{of}.torch_compiled"),
        "file": file,
        "variables": {"JAX_PLATFORMS": "cpu"},
        "regime": "warm",
        "seconds": 80.0,
        "tolerance": 1e-3,
    }
    for name, (file, of) in JOBS.items()
)
NOTE = "The source saw the gap on a GPU. Here compiled PyTorch is C++ for the CPU's own compiler."


def judge(seen):
    """Decide by the rule."""
    left = []
    for name in JOBS:
        gap = seen.ratio("torch_eager", "jax_jit", "warm_call", bench=name)
        compiled = seen.ratio("torch_compiled", "jax_jit", "warm_call", bench=name)
        left += [compiled] if gap.low > 1.0 else []
    return seen.mostly(left, high=1.25)
