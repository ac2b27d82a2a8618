"""On a CPU, compiling is fast."""

ARTICLE = {
    "article": "002",
    "place": "Hardware-specific considerations: Compilation time",
    "figure": "fast",
}
QUANTITY = "The seconds of lowering and compiling a training step of 6, 24 and 96 layers on a CPU."
PROTOCOL = """
Six fresh processes for each depth, with empty caches, trace, lower and compile the loss and
gradients of an MLP of 6, 24 and 96 layers (64 wide, float32), written one after the other.
"""
RULE = """
Fast is read as less than two seconds, where the same table has minutes for TPUs; a depth holds
where it takes less in all processes. Confirmed where more than half of the depths hold; depends
where some hold and others take more in all; refuted where none holds and more than half take more
in all; otherwise inconclusive.
"""
FACTS = (
    {
        "functions": ("layers_6", "layers_24", "layers_96"),
        "processes": 6,
        "variables": {"JAX_PLATFORMS": "cpu"},
    },
)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
Each layer is a part of the program of its own, so that compiling takes longer with every layer. In
a `scan` the program has one layer, whatever the depth.
"""


def layers_6():
    """Time the compiling of six layers."""
    return _compiling(6)


def layers_24():
    """Time the compiling of 24 layers."""
    return _compiling(24)


def layers_96():
    """Time the compiling of 96 layers."""
    return _compiling(96)


def _compiling(layers):
    import time

    import jax
    import jax.numpy as jnp

    def loss(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return jnp.mean(x**2)

    weights, x = [jnp.full((64, 64), 0.01)] * layers, jnp.ones((32, 64))
    jax.block_until_ready((weights, x))
    begin = time.perf_counter()
    jax.jit(jax.value_and_grad(loss)).lower(weights, x).compile()
    return {"compiling_s": time.perf_counter() - begin}


def judge(seen):
    """Decide by the rule."""
    names = ("layers_6", "layers_24", "layers_96")
    return seen.mostly([seen.over_processes(name, "compiling_s") for name in names], high=2.0)
