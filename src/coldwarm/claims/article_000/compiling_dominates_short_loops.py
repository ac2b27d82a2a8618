"""In a short loop, compiling can cost more than all the steps."""

ARTICLE = {
    "article": "000",
    "place": "JAX Compile vs Execution",
    "figure": "compile latency can dominate the total cost",
}
QUANTITY = "The share of the first call in a loop of 100 training steps, and where it is half."
PROTOCOL = """
Six fresh processes with empty caches train a small MLP (64-128-128-1, batch 256, float32) for 100
jitted steps. What the first step takes more than the median of the others is the cost of compiling;
imports are left out, as every program has them.
"""
RULE = """
Confirmed where compiling is more than half of the time of 100 steps in all processes, refuted where
it is less in all, otherwise inconclusive.
"""
FACTS = ({"functions": ("loop",), "processes": 6},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
`steps_until_half` says up to which number of steps compiling is the larger part: the shorter a
step, the longer the loop may be.
"""


def loop():
    """Time 100 steps, one by one."""
    import statistics
    import time

    import jax
    import jax.numpy as jnp

    def loss(weights, x, y):
        for w in weights[:-1]:
            x = jnp.tanh(x @ w)
        return jnp.mean((x @ weights[-1] - y) ** 2)

    @jax.jit
    def step(weights, x, y):
        grads = jax.grad(loss)(weights, x, y)
        return [w - 0.01 * g for w, g in zip(weights, grads, strict=True)]

    weights = [jnp.full(shape, 0.01) for shape in ((64, 128), (128, 128), (128, 1))]
    x, y = jnp.ones((256, 64)), jnp.ones((256, 1))
    jax.block_until_ready((weights, x, y))
    spent = []
    for _ in range(100):
        begin = time.perf_counter()
        weights = jax.block_until_ready(step(weights, x, y))
        spent.append(time.perf_counter() - begin)
    warm = statistics.median(spent[1:])
    compiling = spent[0] - warm
    return {
        "compiling_s": compiling,
        "step_s": warm,
        "share": compiling / sum(spent),
        "steps_until_half": compiling / warm,
    }


def judge(seen):
    """Decide by the rule."""
    seen.over_processes("loop", "steps_until_half")
    return seen.at_least(seen.over_processes("loop", "share"), 0.5)
