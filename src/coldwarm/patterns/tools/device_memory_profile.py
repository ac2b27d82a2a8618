"""Ask a profile of device memory who holds it: the size of the process does not say."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "memory grows from step to step, or runs out in the forward pass"
MECHANISM = """
JAX notes for every buffer the Python frames in which it was made, at all times.
`save_device_memory_profile` writes them with their sizes, so that `pprof` shows which line's arrays
are still there.
"""
EXCEPTION = """
Memory inside of one running program is not in it: for that there is `memory_analysis()` of the
compiled function, or the memory viewer of XProf, which JAX's own guide now prefers.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/device_memory_profiling.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.profiler.save_device_memory_profile.html",
)
ARTICLES = (
    {"article": "002", "place": "Memory profiling"},
    {"article": "002", "place": "Detection cheat sheet", "figure": "out of memory"},
)
STATED = (
    """The profile names the function that left 40 MB behind; the size of the process only grows."""
)


def do():
    """Leave arrays behind, and look for their maker in the profile."""
    import gzip
    import tempfile
    from pathlib import Path

    import jax
    import jax.numpy as jnp

    kept = []

    def forgetful(number):
        kept.append(jnp.full((1000, 1000), float(number)))

    for number in range(10):
        forgetful(number)
    jax.block_until_ready(kept)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.prof"
        jax.profiler.save_device_memory_profile(path)
        profile = gzip.decompress(path.read_bytes())
    return {"names_function": b"forgetful" in profile, "left_bytes": sum(x.nbytes for x in kept)}


def dont():
    """Leave arrays behind, and look at the size of the process."""
    from pathlib import Path

    import jax
    import jax.numpy as jnp

    kept = []

    def forgetful(number):
        kept.append(jnp.full((1000, 1000), float(number)))

    forgetful(0)
    jax.block_until_ready(kept)
    before = Path("/proc/self/status").read_text()
    for number in range(1, 11):
        forgetful(number)
    jax.block_until_ready(kept)
    after = Path("/proc/self/status").read_text()
    resident = [1024 * int(status.partition("VmRSS:")[2].split()[0]) for status in (before, after)]
    return {"names_function": "forgetful" in after, "grown_bytes": resident[1] - resident[0]}


def holds(do, dont):
    """Say whether only the profile names the function."""
    grown = dont["grown_bytes"] > 30_000_000
    return do["names_function"] and not dont["names_function"] and grown
