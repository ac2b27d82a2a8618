"""On a CPU, dispatching costs little."""

ARTICLE = {
    "article": "002",
    "place": "Hardware-specific considerations: Dispatch overhead",
    "figure": "low",
}
QUANTITY = "The median time of a jitted call with next to no work, on a CPU."
PROTOCOL = """
Six fresh processes on the CPU add 1 to an array of four numbers a thousand times in a jitted
function, waiting for each result; the median, by process.
"""
RULE = """
Low is taken as less than 50 microseconds. Confirmed where it is less in all processes, refuted
where more in all, otherwise inconclusive.
"""
FACTS = ({"functions": ("dispatch",), "processes": 6, "variables": {"JAX_PLATFORMS": "cpu"}},)
DOCS = ("https://docs.jax.dev/en/latest/async_dispatch.html",)


def dispatch():
    """Time calls that have nothing to do."""
    import statistics
    import time

    import jax
    import jax.numpy as jnp

    add = jax.jit(lambda x: x + 1)
    x = add(jnp.ones(4)).block_until_ready()
    spent = []
    for _ in range(1000):
        begin = time.perf_counter()
        add(x).block_until_ready()
        spent.append(time.perf_counter() - begin)
    return {"call_s": statistics.median(spent)}


def judge(seen):
    """Decide by the rule."""
    return seen.at_most(seen.over_processes("dispatch", "call_s"), 50e-6)
