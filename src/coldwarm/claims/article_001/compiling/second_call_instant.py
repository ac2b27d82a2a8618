"""After the first call of a jitted function, later calls are instant."""

ARTICLE = {
    "article": "001",
    "place": "Compilation Overhead",
    "figure": "subsequent calls are instant",
}
QUANTITY = "A later call of a jitted step of a small network over its first, in one process."
PROTOCOL = """
Six fresh processes with empty caches make a step of a two-layer network (128 wide, batch 256,
float32) and call it twenty times; the median of the later calls over the first, by process.
"""
RULE = """
Confirmed where a later call takes at most a hundredth of the first in all processes, refuted where
in none, otherwise inconclusive.
"""
FACTS = ({"functions": ("first_and_later",), "processes": 6},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)


def first_and_later():
    """Time the first call of a step, and the later ones."""
    import statistics
    import time

    import jax
    import jax.numpy as jnp

    def loss(params, x, y):
        hidden = jnp.tanh(x @ params["w1"])
        return jnp.mean((hidden @ params["w2"] - y) ** 2)

    @jax.jit
    def step(params, x, y):
        grads = jax.grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)

    params = {"w1": jnp.full((64, 128), 0.01), "w2": jnp.full((128, 1), 0.01)}
    x, y = jnp.ones((256, 64)), jnp.ones((256, 1))
    jax.block_until_ready((params, x, y))
    spent = []
    for _ in range(20):
        begin = time.perf_counter()
        jax.block_until_ready(step(params, x, y))
        spent.append(time.perf_counter() - begin)
    later = statistics.median(spent[1:])
    return {"first_s": spent[0], "later_s": later, "share": later / spent[0]}


def judge(seen):
    """Decide by the rule."""
    seen.over_processes("first_and_later", "first_s")
    seen.over_processes("first_and_later", "later_s")
    return seen.at_most(seen.over_processes("first_and_later", "share"), 0.01)
