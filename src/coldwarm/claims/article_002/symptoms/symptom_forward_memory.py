"""The memory profiler shows what fills the memory in a forward pass."""

ARTICLE = {
    "article": "002",
    "place": "Detection cheat sheet: OOM on forward pass",
    "figure": "memory profiler",
}
QUANTITY = "Whether the device's memory profile names the function that holds the largest arrays."
PROTOCOL = """
One process keeps twenty arrays of 4 MiB that a function has made, writes the device's memory
profile, and looks in it for the name of the function.
"""
RULE = """
Confirmed where the profile names the function; refuted where it does not.
"""
FACTS = ({"functions": ("profiled",)},)
DOCS = ("https://docs.jax.dev/en/latest/device_memory_profiling.html",)
NOTE = """
The profile has what lives when it is written: arrays that Python holds. What a compiled program
needs while it runs is not among them; `compiled.memory_analysis()` says that.
"""


def profiled():
    """Write a memory profile, and read the names in it."""
    import gzip
    import tempfile
    from pathlib import Path

    import jax
    import jax.numpy as jnp

    def activations_of_all_layers():
        return [jnp.full(2**20, float(n)) for n in range(20)]

    kept = jax.block_until_ready(activations_of_all_layers())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.prof"
        jax.profiler.save_device_memory_profile(path)
        profile = gzip.decompress(path.read_bytes())
    return {"named": b"activations_of_all_layers" in profile, "arrays": len(kept)}


def judge(seen):
    """Decide by the rule."""
    return seen.holds(bool(seen.facts("profiled")["named"]))
