"""Find slow operations with JAX's profiler: Python's own sees one call and nothing in it."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "a step is slow, and a profile of the Python code shows only waiting"
MECHANISM = """
The operations of a compiled program run outside of Python, most of them on threads of their own, so
`cProfile` sees the call and the wait for its result. `jax.profiler.trace` records what the program
itself runs, operation by operation; the result has to be waited for inside of the trace.
"""
EXCEPTION = """
Where the time goes to Python itself, as in tracing, in loading data or in many tiny calls, Python's
profiler is the right one.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/profiling.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.profiler.trace.html",
)
ARTICLES = (
    {"article": "002", "place": "Memory profiling"},
    {
        "article": "002",
        "place": "Quick reference: The 10 commandments of JAX performance",
        "figure": "rule 10",
    },
)
STATED = """The trace has an event of the sort inside a compiled step; Python's profile has not."""


def do():
    """Look for the sort of a compiled step in a trace."""
    import tempfile
    from pathlib import Path

    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(x):
        return jnp.cumsum(jnp.sort(x)) * 2

    x = jnp.sin(jnp.arange(200_000.0))
    step(x).block_until_ready()
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            step(x).block_until_ready()
        path = next(Path(folder).rglob("*.xplane.pb"))
        planes = jax.profiler.ProfileData.from_file(str(path)).planes
        names = [event.name for plane in planes for line in plane.lines for event in line.events]
    return {"names_operation": any(name.startswith("sort") for name in names)}


def dont():
    """Look for the sort of a compiled step in a profile of Python."""
    import cProfile
    import pstats

    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(x):
        return jnp.cumsum(jnp.sort(x)) * 2

    x = jnp.sin(jnp.arange(200_000.0))
    step(x).block_until_ready()
    with cProfile.Profile() as profile:
        step(x).block_until_ready()
    names = list(pstats.Stats(profile).get_stats_profile().func_profiles)
    return {"names_operation": any("sort" in name for name in names)}


def holds(do, dont):
    """Say whether only JAX's trace names the operation."""
    return do["names_operation"] and not dont["names_operation"]
