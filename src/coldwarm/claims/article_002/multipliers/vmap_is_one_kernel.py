"""A network that is mapped over a batch with `jit(vmap)` runs as one fused kernel."""

ARTICLE = {
    "article": "002",
    "place": "Always vmap instead of Python loops",
    "figure": "a single fused kernel",
}
QUANTITY = "The kernels in the optimised program of a mapped network, by its number of layers."
PROTOCOL = """
Networks of 1, 3 and 9 layers (a product, a bias and a tanh, 64 wide) are mapped over 256 examples
and compiled for the CPU; the fusions, products and calls of their entry computations are
counted.
"""
RULE = """
Confirmed where two or more of the three programs have one kernel, depends where just one has, and
refuted where all have more.
"""
LAYERS = (1, 3, 9)
MADE_FOR = "gpu"
FACTS = (
    {
        "functions": ("kernels",),
        "variables": {"JAX_PLATFORMS": "cpu"},
    },
)
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html",)
NOTE = """
`vmap` makes one program of the loop over examples. Inside of it each product of matrices is a
kernel, as it needs all of the layer before; bias and tanh may be fused with it or with each other.
"""


def kernels():
    """Count the kernels of compiled networks."""
    return {f"layers_{layers}": _kernels(layers) for layers in LAYERS}


def _kernels(layers):
    import re

    import jax
    import jax.numpy as jnp

    def predict(x, network):
        for weights, bias in network:
            x = jnp.tanh(x @ weights + bias)
        return x

    network = [(jnp.full((64, 64), 0.01), jnp.ones(64))] * layers
    mapped = jax.jit(jax.vmap(predict, in_axes=(0, None)))
    text = mapped.lower(jnp.ones((256, 64)), network).compile().as_text()
    entry = text[text.index("\nENTRY ") :]
    return len(re.findall(r" (?:fusion|dot|custom-call|call|convolution|while)\(", entry))


def judge(seen):
    """Decide by the rule."""
    for layers in LAYERS:
        seen.fact("kernels", f"layers_{layers}")
    return seen.mostly(seen.asked, high=1)
