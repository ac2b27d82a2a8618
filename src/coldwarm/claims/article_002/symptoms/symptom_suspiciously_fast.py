"""A benchmark that is too fast lacks `block_until_ready`."""

ARTICLE = {
    "article": "002",
    "place": "Detection cheat sheet: Suspiciously fast benchmarks",
    "figure": "add .block_until_ready()",
}
QUANTITY = "The operations per second that a benchmark without waiting claims, over those with it."
PROTOCOL = """
Six fresh processes time a jitted chain of twenty products (512 × 512), compiled before, ten times
without `block_until_ready` and ten times with it; the ratio of the medians, by process.
"""
RULE = """
Confirmed where the time with waiting is at least twice that without in all processes, refuted where
it is less in all, otherwise inconclusive.
"""
FACTS = ({"functions": ("timed",), "processes": 6},)
DOCS = ("https://docs.jax.dev/en/latest/async_dispatch.html",)


def timed():
    """Time with and without waiting."""
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
    without, with_it = [], []
    for _ in range(10):
        begin = time.perf_counter()
        left = chain(x)
        without.append(time.perf_counter() - begin)
        left.block_until_ready()
        begin = time.perf_counter()
        chain(x).block_until_ready()
        with_it.append(time.perf_counter() - begin)
    return {"ratio": statistics.median(with_it) / statistics.median(without)}


def judge(seen):
    """Decide by the rule."""
    return seen.at_least(seen.over_processes("timed", "ratio"), 2.0)
