"""`torch.compile` compiles less often for new shapes than `jax.jit`."""

ARTICLE = {
    "article": "001",
    "place": "Compilation Overhead",
    "figure": "the caching is smarter",
}
QUANTITY = "How often the same function is compiled for eight batch sizes."
PROTOCOL = """
One process each calls a two-layer network with eight batch sizes: under `jax.jit`, counting traces,
and under `torch.compile` with its defaults, counting the graphs that it has compiled.
"""
RULE = """
Confirmed where PyTorch compiles fewer graphs than JAX traces; refuted where as many, or more.
"""
FACTS = ({"functions": ("jitted", "compiled")},)
DOCS = ("https://docs.pytorch.org/docs/stable/compile/programming_model.recompilation.html",)
NOTE = """
From the second size on, PyTorch compiles with that size as a symbol, and keeps this program for all
further sizes. JAX can do so only by exporting with symbolic shapes.
"""


def jitted():
    """Call a function jitted by JAX with eight sizes."""
    import jax
    import jax.numpy as jnp

    traces = []
    w1, w2 = jnp.full((64, 64), 0.01), jnp.full((64, 1), 0.01)

    @jax.jit
    def predict(x):
        traces.append(x.shape)
        return jnp.tanh(x @ w1) @ w2

    for n in range(32, 40):
        predict(jnp.ones((n, 64))).block_until_ready()
    return {"compiled": len(traces)}


def compiled():
    """Call a function compiled by PyTorch with eight sizes."""
    import torch
    from torch._dynamo.utils import counters

    w1, w2 = torch.full((64, 64), 0.01), torch.full((64, 1), 0.01)

    @torch.compile
    def predict(x):
        return torch.tanh(x @ w1) @ w2

    for n in range(32, 40):
        predict(torch.ones(n, 64))
    return {"compiled": counters["stats"]["unique_graphs"]}


def judge(seen):
    """Decide by the rule."""
    ours, theirs = (seen.fact(name, "compiled") for name in ("jitted", "compiled"))
    return seen.holds(0 < theirs < ours)
