"""Moving data to a GPU is orders of magnitude slower than moving it on the GPU."""

ARTICLE = {
    "article": "002",
    "place": "Minimize host-device transfers",
    "figure": "10–25 GB/s against 2–3 TB/s",
    "low": 80.0,
}
QUANTITY = (
    "The bytes per second of an array's copy on the GPU over those of its transfer from the host."
)
PROTOCOL = """
Six fresh processes put an array of 256 MiB onto the GPU ten times, and add 1 to one that is there
ten times, which reads and writes it once; the ratio of the medians of bytes per second.
"""
RULE = """
Confirmed where the ratio is at least 64 in all processes (80 % of 2 TB/s over 25 GB/s), refuted
where it is lower in all, otherwise inconclusive.
"""
NEEDS = "gpu"
FACTS = ({"functions": ("rates",), "processes": 6},)
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.device_put.html",)


def rates():
    """Measure both rates."""
    import statistics
    import time

    import jax
    import jax.numpy as jnp
    import numpy as np

    host = np.ones(2**26, np.float32)
    add = jax.jit(lambda x: x + 1)
    device = jnp.asarray(host)
    add(device).block_until_ready()

    def median_s(function):
        spent = []
        for _ in range(10):
            begin = time.perf_counter()
            function().block_until_ready()
            spent.append(time.perf_counter() - begin)
        return statistics.median(spent)

    there = host.nbytes / median_s(lambda: jax.device_put(host))
    on_it = 2 * host.nbytes / median_s(lambda: add(device))
    return {"transfer_bytes_per_s": there, "copy_bytes_per_s": on_it, "ratio": on_it / there}


def judge(seen):
    """Decide by the rule."""
    return seen.at_least(seen.over_processes("rates", "ratio"), 64.0)
