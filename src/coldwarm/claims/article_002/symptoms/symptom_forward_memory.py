"""The memory profiler shows what fills the memory in a forward pass."""

ARTICLE = {
    "article": "002",
    "place": "Detection cheat sheet: OOM on forward pass",
    "figure": "memory profiler",
}
QUANTITY = "Whether the device's memory profile names the function that fills the memory."
PROTOCOL = """
A forward pass of 16 layers, each of whose results is needed until the end, fills some 200 MB:
without jit, where its arrays are kept in a list; and as one jitted function, where they are
temporary arrays of the program. The profile is written during the jitted call, which another thread
waits for, and after each, and looked through for the name of the function.
"""
RULE = """
A form holds where a profile names the function. Confirmed where both forms hold, depends where one
does, refuted where none does; inconclusive where the jitted call had ended before the profile that
was meant to be written during it.
"""
FACTS = ({"functions": ("eager", "jitted")},)
DOCS = ("https://docs.jax.dev/en/latest/device_memory_profiling.html",)
NOTE = """
The profile has what lives when it is written: arrays that Python holds. What a compiled program
needs while it runs is not among them; `compiled.memory_analysis()` says that. A symptom that the
source takes for a missing checkpoint is in most programs that of the jitted form.
"""


def eager():
    """Profile a forward pass without jit, whose arrays are kept."""
    import jax

    kept = jax.block_until_ready(activations_of_all_layers(*_start()))
    return {"named": _names_it(), "kept_bytes": sum(one.nbytes for one in kept)}


def jitted():
    """Profile a forward pass with jit, during the call and after it."""
    import time
    from concurrent.futures import ThreadPoolExecutor

    import jax

    def products_of_activations_of_all_layers(x, weights):
        layers = activations_of_all_layers(x, weights)
        return sum(a.T @ b for a, b in zip(layers, reversed(layers), strict=True))

    arguments = _start()
    compiled = jax.jit(products_of_activations_of_all_layers).lower(*arguments).compile()
    with ThreadPoolExecutor() as threads:
        call = threads.submit(lambda: jax.block_until_ready(compiled(*arguments)))
        time.sleep(0.3)
        during, still_running = _names_it(), not call.done()
        result = call.result()
    after = _names_it()
    return {
        "named": during or after,
        "named_during": during,
        "still_running": still_running,
        "temporary_bytes": compiled.memory_analysis().temp_size_in_bytes,
        "result_bytes": result.nbytes,
    }


def activations_of_all_layers(x, weights):
    """Return the results of all layers."""
    import jax.numpy as jnp

    found = []
    for _ in range(16):
        x = jnp.tanh(x @ weights)
        found.append(x)
    return found


def _start():
    import jax.numpy as jnp

    return jnp.ones((4096, 1024)), jnp.full((1024, 1024), 0.001)


def _names_it():
    """Write a memory profile, and look for the function in it."""
    import gzip
    import tempfile
    from pathlib import Path

    import jax

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.prof"
        jax.profiler.save_device_memory_profile(path)
        profile = gzip.decompress(path.read_bytes())
    return b"activations_of_all_layers" in profile


def judge(seen):
    """Decide by the rule."""
    for form in ("eager", "jitted"):
        seen.fact(form, "named")
    if not seen.facts("jitted")["still_running"]:
        return "inconclusive"
    return seen.mostly(seen.asked, 1, 1)
