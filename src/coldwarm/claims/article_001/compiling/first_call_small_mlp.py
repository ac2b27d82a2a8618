"""The first call of a jitted small MLP takes about half a second."""

ARTICLE = {
    "article": "001",
    "place": "Compilation Overhead",
    "figure": "~0.5 s",
}
QUANTITY = "The seconds of the first call of a training step of a small MLP."
PROTOCOL = """
Six fresh processes with empty caches import JAX, make the arrays of an MLP (64-128-128-1, batch
256, float32), and time the first call of its jitted step: trace, lower, compile, run.
"""
RULE = """
Confirmed where it lies between 0.25 s and 1 s in all processes (half and double of what is stated),
refuted where it lies below in all or above in all, otherwise inconclusive.
"""
MADE_FOR = "gpu"
FACTS = (
    {
        "functions": ("first_call",),
        "processes": 6,
        "variables": {"JAX_PLATFORMS": "cpu"},
    },
)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = "The source does not say which machine took that; its other figures are those of a GPU."


def first_call():
    """Time the first call of a training step."""
    import time

    import jax
    import jax.numpy as jnp

    def loss(weights, x, y):
        for w in weights[:-1]:
            x = jnp.tanh(x @ w)
        return jnp.mean((x @ weights[-1] - y) ** 2)

    @jax.jit
    def step(weights, x, y):
        value, grads = jax.value_and_grad(loss)(weights, x, y)
        return [w - 0.01 * g for w, g in zip(weights, grads, strict=True)], value

    weights = [jnp.full(shape, 0.01) for shape in ((64, 128), (128, 128), (128, 1))]
    x, y = jnp.ones((256, 64)), jnp.ones((256, 1))
    jax.block_until_ready((weights, x, y))
    begin = time.perf_counter()
    jax.block_until_ready(step(weights, x, y))
    return {"first_s": time.perf_counter() - begin}


def judge(seen):
    """Decide by the rule."""
    return seen.within(seen.over_processes("first_call", "first_s"), 0.25, 1.0)
