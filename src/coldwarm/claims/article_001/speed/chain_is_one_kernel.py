"""XLA turns a jitted chain of 100 matrix products into one kernel."""

ARTICLE = {
    "article": "001",
    "place": "The JIT Wall",
    "figure": "a single fused GPU kernel",
}
QUANTITY = "The kernels in the optimised program of the chain."
PROTOCOL = """
The chain is compiled for the CPU, and the fusions, products and calls of its entry
computation are counted. A chain of 100 elementwise operations is counted beside it.
"""
RULE = "Confirmed where the program of products has one kernel; refuted where it has more."
MADE_FOR = "gpu"
FACTS = (
    {
        "functions": ("kernels",),
        "variables": {"JAX_PLATFORMS": "cpu"},
    },
)
NOTE = """
Elementwise operations are fused into one kernel. Matrix products are not fused with each other:
each needs all of the one before.
"""
TURNS = 100


def kernels():
    """Count the kernels of two compiled chains."""
    import re

    import jax
    import jax.numpy as jnp

    def products(x):
        for _ in range(TURNS):
            x = jnp.matmul(x, x)
        return x

    def elementwise(x):
        for _ in range(TURNS):
            x = x * 1.01 + 0.5
        return x

    def count(function):
        text = jax.jit(function).lower(jnp.ones((128, 128))).compile().as_text()
        entry = text[text.index("\nENTRY ") :]
        kinds = r" (?:fusion|dot|custom-call|call|convolution|while)\("
        return len(re.findall(kinds, entry))

    return {"products": count(products), "elementwise": count(elementwise)}


def judge(seen):
    """Decide by the rule."""
    seen.fact("kernels", "elementwise")
    return seen.holds(seen.fact("kernels", "products") == 1)
