"""On a CPU, compiling is fast."""

ARTICLE = {
    "article": "002",
    "place": "Hardware-specific considerations: Compilation time",
    "figure": "fast",
}
QUANTITY = "The seconds of lowering and compiling a training step of a small MLP on a CPU."
PROTOCOL = """
Six fresh processes with empty caches trace, lower and compile the loss and gradients of an MLP of
six layers (64 wide, float32).
"""
RULE = """
Fast is taken as less than two seconds, where the same table has minutes for TPUs. Confirmed where
it takes less in all processes, refuted where more in all, otherwise inconclusive.
"""
FACTS = ({"functions": ("compiling",), "processes": 6},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)


def compiling():
    """Time the compiling of a training step."""
    import time

    import jax
    import jax.numpy as jnp

    def loss(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return jnp.mean(x**2)

    weights, x = [jnp.full((64, 64), 0.01)] * 6, jnp.ones((32, 64))
    jax.block_until_ready((weights, x))
    begin = time.perf_counter()
    jax.jit(jax.value_and_grad(loss)).lower(weights, x).compile()
    return {"compiling_s": time.perf_counter() - begin}


def judge(seen):
    """Decide by the rule."""
    return seen.at_most(seen.over_processes("compiling", "compiling_s"), 2.0)
