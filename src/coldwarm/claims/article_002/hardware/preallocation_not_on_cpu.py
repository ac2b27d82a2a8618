"""On a CPU, JAX allocates no memory in advance."""

ARTICLE = {
    "article": "002",
    "place": "Hardware-specific considerations: Memory prealloc",
    "figure": "N/A",
}
QUANTITY = "By how much a process grows with its first array on a CPU, as a share of all memory."
PROTOCOL = """
One process on the CPU reads its resident and its virtual memory before the first array and after
it, and asks the device for statistics of its pool.
"""
RULE = """
Confirmed where resident memory grows by less than 5 % of all memory and the device has no pool;
refuted otherwise.
"""
FACTS = ({"functions": ("growth",), "variables": {"JAX_PLATFORMS": "cpu"}},)
DOCS = ("https://docs.jax.dev/en/latest/gpu_memory_allocation.html",)


def growth():
    """Measure what the first array takes."""
    import os
    from pathlib import Path

    import jax
    import jax.numpy as jnp

    def resident_bytes():
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    before = resident_bytes()
    jnp.ones(1).block_until_ready()
    grown = resident_bytes() - before
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "grown_bytes": grown,
        "grown_share": grown / total,
        "has_pool": jax.devices()[0].memory_stats() is not None,
    }


def judge(seen):
    """Decide by the rule."""
    small = seen.fact("growth", "grown_share") < 0.05
    return seen.holds(small and not seen.facts("growth")["has_pool"])
