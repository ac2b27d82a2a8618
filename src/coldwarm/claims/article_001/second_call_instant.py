"""After the first call of a jitted function, later calls are instant."""

ARTICLE = {
    "article": "001",
    "place": "Compilation Overhead",
    "figure": "subsequent calls are instant",
}
QUANTITY = "The second call of a jitted step of a small network over its first, in one process."
PROTOCOL = """
Fresh processes with empty caches make a step of a two-layer network (128 wide, batch 256, float32)
and call it; the ratio of the first call to a warm call, by process.
"""
RULE = "Confirmed where a warm call takes at most a hundredth of the first call; refuted above."
FACTS = ({"functions": ("first_and_later",)},)


def first_and_later():
    """Time the first call of a step and a later one."""
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
    spent = []
    for _ in range(20):
        begin = time.perf_counter()
        jax.block_until_ready(step(params, x, y))
        spent.append(time.perf_counter() - begin)
    return {"first_s": spent[0], "later_s": sorted(spent[1:])[9]}


def judge(seen):
    """Decide by the rule."""
    first, later = (seen.fact("first_and_later", name) for name in ("first_s", "later_s"))
    return seen.holds(later <= first / 100)
