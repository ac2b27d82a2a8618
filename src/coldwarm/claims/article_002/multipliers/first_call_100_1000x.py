"""The first call of a jitted function is 100 to 1000 times as slow as later ones."""

ARTICLE = {
    "article": "002",
    "place": "Warmup before benchmarking or production",
    "figure": "100–1000×",
    "low": 100.0,
    "high": 1000.0,
}
QUANTITY = "The first call of a jitted network over the median of its later ones, at five widths."
PROTOCOL = """
For each width six fresh processes with empty caches call a jitted MLP of three layers twenty times:
16, 64, 256, 1,024 and 2,048 wide, at a batch of 64. The ratio of the first call to the median of
the later ones, by process.
"""
RULE = """
A width holds where the ratio lies between 80 and 1,250 (20 % below 100, 25 % above 1,000) in all
processes. Confirmed where more than half of the widths hold; depends where some hold and others lie
outside in all processes; refuted where none holds and more than half lie outside in all; otherwise
inconclusive.
"""
WIDTHS = (16, 64, 256, 1024, 2048)
FACTS = ({"functions": tuple(f"width_{n}" for n in WIDTHS), "processes": 6},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
Compiling takes about the same time for all widths, and a call does not: the ratio says more about
the work than about the compiler.
"""


def width_16():
    """Compare first and later calls of a network 16 wide."""
    return _compared(16)


def width_64():
    """Compare first and later calls of a network 64 wide."""
    return _compared(64)


def width_256():
    """Compare first and later calls of a network 256 wide."""
    return _compared(256)


def width_1024():
    """Compare first and later calls of a network 1,024 wide."""
    return _compared(1024)


def width_2048():
    """Compare first and later calls of a network 2,048 wide."""
    return _compared(2048)


def _compared(width):
    import statistics
    import time

    import jax
    import jax.numpy as jnp

    @jax.jit
    def predict(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return x

    weights, x = [jnp.full((width, width), 0.01)] * 3, jnp.ones((64, width))
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
    ratios = [seen.over_processes(f"width_{n}", "ratio") for n in WIDTHS]
    return seen.mostly(ratios, 80.0, 1250.0)
