"""In a short loop, compiling can cost more than all the steps."""

ARTICLE = {
    "article": "000",
    "place": "JAX Compile vs Execution",
    "figure": "compile latency can dominate the total cost",
}
QUANTITY = "The share of compiling in loops of 10 to 10,000 training steps, and where it is half."
PROTOCOL = """
Six fresh processes with empty caches train a small MLP (64-128-128-1, batch 256, float32) for 1,000
jitted steps. What the first step takes more than the median of the others is the cost of compiling;
imports are left out, as every program has them. Its share in a loop of 10, 100, 1,000 and 10,000
such steps is computed from the two; beside it stands the share in the 100 steps as they were timed.
"""
RULE = """
"Can" needs one number of steps. Confirmed where compiling is more than half of the time of 10, 100,
1,000 or 10,000 steps in all processes, refuted where at each of these numbers it is less in all,
otherwise inconclusive.
"""
FACTS = ({"functions": ("loop",), "processes": 6},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
`steps_until_half` says up to which number of steps compiling is the larger part: the shorter a
step, the longer the loop may be.
"""
STEPS = (10, 100, 1_000, 10_000)


def loop():
    """Time 1,000 steps, one by one."""
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
    for _ in range(1_000):
        begin = time.perf_counter()
        weights = jax.block_until_ready(step(weights, x, y))
        spent.append(time.perf_counter() - begin)
    warm = statistics.median(spent[1:])
    compiling = spent[0] - warm
    shares = {f"share_of_{n}": compiling / (compiling + n * warm) for n in STEPS}
    return {
        "compiling_s": compiling,
        "step_s": warm,
        "steps_until_half": compiling / warm,
        "share_of_100_timed": compiling / sum(spent[:100]),
        **shares,
    }


def judge(seen):
    """Decide by the rule."""
    seen.over_processes("loop", "steps_until_half")
    seen.over_processes("loop", "share_of_100_timed")
    shares = [seen.over_processes("loop", f"share_of_{n}") for n in STEPS]
    said = {seen.at_least(share, 0.5) for share in shares}
    if "confirmed" in said:
        return "confirmed"
    return "refuted" if said == {"refuted"} else "inconclusive"
