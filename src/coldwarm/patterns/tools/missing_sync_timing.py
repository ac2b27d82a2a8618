"""Wait for the result before reading the clock: a call returns before its work is done."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "a benchmark is fast beyond belief"
MECHANISM = """
A call of a compiled function puts its work into a queue and returns an array that has no values
yet. A clock that is read then has timed the queueing; `block_until_ready` waits for the values.
"""
EXCEPTION = """
The time of the call alone is what matters for a host that has other work to do meanwhile. On a CPU
small computations are finished before the call returns.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/async_dispatch.html",
    "https://docs.jax.dev/en/latest/201/profiling.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Missing block_until_ready in benchmarks",
        "figure": "microseconds",
    },
    {
        "article": "002",
        "place": "Quick reference: The 10 commandments of JAX performance",
        "figure": "rule 9",
    },
    {"article": "000", "place": "Definitions: what we time", "figure": "only CPU dispatch"},
)
STATED = """Without waiting, the clock sees less than half of the time after which the result is
there; with waiting all of it."""


def do():
    """Time a compiled call and wait for its result."""
    import time

    import jax
    import jax.numpy as jnp

    @jax.jit
    def work(x):
        return jax.lax.fori_loop(0, 20, lambda _, y: jnp.tanh(y @ x), x)

    x = jnp.full((500, 500), 0.001)
    work(x).block_until_ready()
    start = time.perf_counter()
    result = work(x).block_until_ready()
    told = time.perf_counter() - start
    result.block_until_ready()
    return {"told_s": told, "ready_s": time.perf_counter() - start}


def dont():
    """Time a compiled call alone."""
    import time

    import jax
    import jax.numpy as jnp

    @jax.jit
    def work(x):
        return jax.lax.fori_loop(0, 20, lambda _, y: jnp.tanh(y @ x), x)

    x = jnp.full((500, 500), 0.001)
    work(x).block_until_ready()
    start = time.perf_counter()
    result = work(x)
    told = time.perf_counter() - start
    result.block_until_ready()
    return {"told_s": told, "ready_s": time.perf_counter() - start}


def holds(do, dont):
    """Say whether only the clock that waited has seen the work."""
    return do["told_s"] > 0.9 * do["ready_s"] and dont["told_s"] < 0.5 * dont["ready_s"]
