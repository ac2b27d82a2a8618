"""A time taken without waiting for the result is that of dispatching the work."""

ARTICLE = {
    "article": "000",
    "place": "Definitions: what we time",
    "figure": "timing only CPU dispatch",
}
QUANTITY = "A call timed until it returns, over the same timed until its result is there."
PROTOCOL = """
Six fresh processes call a jitted chain of twenty products (512 × 512) that has been compiled
before, in turns timed until the call returns and until `block_until_ready` returns; the ratio of
the medians, by process.
"""
RULE = """
Confirmed where the time without waiting is less than half of that with it in all processes, refuted
where it is more in all, otherwise inconclusive.
"""
FACTS = ({"functions": ("timed",), "processes": 6},)
DOCS = ("https://docs.jax.dev/en/latest/async_dispatch.html",)
NOTE = """
The source says it of GPUs. On the CPU JAX dispatches asynchronously as well, but may run a program
at once where it judges it to be small.
"""


def timed():
    """Time a call with and without waiting."""
    import statistics
    import time

    import jax
    import jax.numpy as jnp

    @jax.jit
    def chain(product):
        for _ in range(20):
            product = product @ product
        return product

    x = jnp.roll(jnp.eye(512), 1, axis=0)
    chain(x).block_until_ready()
    returned, ready = [], []
    for _ in range(15):
        begin = time.perf_counter()
        result = chain(x)
        returned.append(time.perf_counter() - begin)
        result.block_until_ready()
        begin = time.perf_counter()
        chain(x).block_until_ready()
        ready.append(time.perf_counter() - begin)
    without, with_it = statistics.median(returned), statistics.median(ready)
    return {"without_s": without, "with_s": with_it, "ratio": without / with_it}


def judge(seen):
    """Decide by the rule."""
    return seen.at_most(seen.over_processes("timed", "ratio"), 0.5)
