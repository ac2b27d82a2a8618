"""JAX takes 75 % of a GPU's memory when it starts."""

ARTICLE = {
    "article": "001",
    "place": "Memory Layout Surprises",
    "figure": "75 %",
    "low": 0.75,
}
QUANTITY = "The memory that a process of JAX takes with its first array, as a share of the GPU's."
PROTOCOL = """
One process without settings of its own asks the driver for the GPU's used memory before its first
array and after it, and JAX for the limit of its pool. It runs alone on the GPU.
"""
RULE = """
Confirmed where the memory taken lies between 72 % and 78 % of the total; refuted where it lies
outside; inconclusive where JAX does not run on the GPU.
"""
NEEDS = "gpu"
FACTS = ({"functions": ("taken",)},)
DOCS = ("https://docs.jax.dev/en/latest/gpu_memory_allocation.html",)


def taken():
    """Ask how much memory is used before and after the first array."""
    import os
    import subprocess

    for name in (
        "XLA_CLIENT_MEM_FRACTION",
        "XLA_PYTHON_CLIENT_MEM_FRACTION",
        "XLA_PYTHON_CLIENT_PREALLOCATE",
        "XLA_PYTHON_CLIENT_ALLOCATOR",
    ):
        os.environ.pop(name, None)

    def used_and_total_mib():
        query = ["--query-gpu=memory.used,memory.total", "--format=csv,noheader,nounits"]
        told = subprocess.run(
            ["nvidia-smi", "-i", "0", *query],  # noqa: S607 - where it lies differs
            check=True,
            capture_output=True,
            text=True,
        )
        used, total = told.stdout.strip().split(",")
        return int(used), int(total)

    before, total = used_and_total_mib()
    import jax
    import jax.numpy as jnp

    jnp.ones(1).block_until_ready()
    after, _ = used_and_total_mib()
    limit = (jax.devices()[0].memory_stats() or {}).get("bytes_limit")
    return {
        "taken_share": (after - before) / total,
        "pool_limit_bytes": limit,
        "platform": jax.default_backend(),
    }


def judge(seen):
    """Decide by the rule."""
    if seen.facts("taken")["platform"] != "gpu":
        return "inconclusive"
    return seen.holds(0.72 <= seen.fact("taken", "taken_share") <= 0.78)
