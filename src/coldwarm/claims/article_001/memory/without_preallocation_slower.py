"""Without preallocation, JAX pays for an allocation at every kernel launch."""

ARTICLE = {
    "article": "001",
    "place": "Memory Layout Surprises",
    "figure": "you pay allocation overhead on every kernel launch",
}
QUANTITY = "The median time of an operation outside jit, with preallocation turned off and on."
PROTOCOL = """
Six fresh processes each, with `XLA_PYTHON_CLIENT_PREALLOCATE` false and true, add 1 to an array of
16 MiB a thousand times, each time into a new array, and take the median after a warm-up.
"""
RULE = """
Confirmed where the least median without preallocation is more than 1.05 times the largest with it.
Refuted where the largest without is less than 1.05 times the least with it. Otherwise inconclusive.
"""
NEEDS = "gpu"
FACTS = (
    {
        "functions": ("preallocated",),
        "processes": 6,
        "variables": {"XLA_PYTHON_CLIENT_PREALLOCATE": "true"},
    },
    {
        "functions": ("on_demand",),
        "processes": 6,
        "variables": {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
    },
)
DOCS = ("https://docs.jax.dev/en/latest/gpu_memory_allocation.html",)
NOTE = """
Memory that was allocated on demand is kept and used again, so what costs is growing, not each
launch. Only `XLA_PYTHON_CLIENT_ALLOCATOR=platform` gives memory back each time.
"""


def preallocated():
    """Time operations that allocate from a pool that is there."""
    return _launches()


def on_demand():
    """Time operations that allocate from a pool that grows."""
    return _launches()


def _launches():
    import statistics
    import time

    import jax
    import jax.numpy as jnp

    x = jnp.ones(4 * 2**20)
    spent = []
    for _ in range(1100):
        begin = time.perf_counter()
        (x + 1).block_until_ready()
        spent.append(time.perf_counter() - begin)
    return {"launch_s": statistics.median(spent[100:]), "platform": jax.default_backend()}


def judge(seen):
    """Decide by the rule."""
    with_it = seen.over_processes("preallocated", "launch_s")
    without = seen.over_processes("on_demand", "launch_s")
    if without.low > 1.05 * with_it.high:
        return "confirmed"
    return "refuted" if without.high < 1.05 * with_it.low else "inconclusive"
