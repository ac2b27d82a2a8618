"""A jitted function compiles again for each new shape of its argument."""

ARTICLE = {
    "article": "001",
    "place": "Compilation Overhead",
    "figure": "different input shape, JAX recompiles",
}
QUANTITY = (
    "How often a function is traced, and a call with a new shape over one with a known shape."
)
PROTOCOL = """
Six fresh processes call a jitted two-layer network with eight batch sizes, twice each. Traces are
counted in the function's body; the first call of each size is compared with its second.
"""
RULE = """
Confirmed where every size is traced once, and a new size takes at least ten times as long as a
known one in all processes. Refuted where fewer are traced, or the ratio is lower in all. Otherwise
inconclusive.
"""
FACTS = ({"functions": ("sizes",), "processes": 6},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)


def sizes():
    """Call a jitted function with several sizes."""
    import statistics
    import time

    import jax
    import jax.numpy as jnp

    traces = []
    w1, w2 = jnp.full((64, 64), 0.01), jnp.full((64, 1), 0.01)

    @jax.jit
    def predict(x):
        traces.append(x.shape)
        return jnp.tanh(x @ w1) @ w2

    def call_s(x):
        begin = time.perf_counter()
        predict(x).block_until_ready()
        return time.perf_counter() - begin

    batches = [jnp.ones((n, 64)) for n in range(32, 40)]
    jax.block_until_ready((w1, w2, batches))
    call_s(batches[0])  # the first of all compilations is longer, and is not compared
    pairs = [(call_s(x), call_s(x)) for x in batches[1:]]
    ratio = statistics.median(new / known for new, known in pairs)
    return {"n_sizes": len(batches), "n_traces": len(traces), "ratio": ratio}


def judge(seen):
    """Decide by the rule."""
    ratio = seen.over_processes("sizes", "ratio")
    if seen.fact("sizes", "n_traces") < seen.fact("sizes", "n_sizes"):
        return "refuted"
    return seen.at_least(ratio, 10.0)
