"""The first call of a jitted function is 100 to 1000 times as slow as later ones."""

ARTICLE = {
    "article": "002",
    "place": "Warmup before benchmarking or production",
    "figure": "100–1000×",
    "low": 100.0,
    "high": 1000.0,
}
QUANTITY = "The first call of a jitted network over the median of its later ones, at two sizes."
PROTOCOL = """
Six fresh processes each with empty caches call a jitted MLP of three layers twenty times: 128 wide
at a batch of 64, and 1024 wide at a batch of 256. The ratio of the first call to the median of the
later ones, by process.
"""
RULE = """
Confirmed where both sizes lie between 80 and 1250 (20 % below 100, 25 % above 1000) in all
processes, refuted where one of them lies outside in all, otherwise inconclusive.
"""
FACTS = ({"functions": ("small", "large"), "processes": 6},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
Compiling takes about the same time for both sizes, and a call does not: the ratio says more about
the work than about the compiler.
"""


def small():
    """Compare first and later calls of a small network."""
    return _compared(128, 64)


def large():
    """Compare first and later calls of a larger network."""
    return _compared(1024, 256)


def _compared(width, batch):
    import statistics
    import time

    import jax
    import jax.numpy as jnp

    @jax.jit
    def predict(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return x

    weights, x = [jnp.full((width, width), 0.01)] * 3, jnp.ones((batch, width))
    jax.block_until_ready((weights, x))
    spent = []
    for _ in range(20):
        begin = time.perf_counter()
        predict(weights, x).block_until_ready()
        spent.append(time.perf_counter() - begin)
    later = statistics.median(spent[1:])
    return {"first_s": spent[0], "later_s": later, "ratio": spent[0] / later}


def judge(seen):
    """Decide by the rule."""
    verdicts = [
        seen.within(seen.over_processes(name, "ratio"), 80.0, 1250.0) for name in ("small", "large")
    ]
    if "refuted" in verdicts:
        return "refuted"
    return "inconclusive" if "inconclusive" in verdicts else "confirmed"
