"""Weights that are copied for each example cost time as well as memory."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
LINT = "unmapped-replication"
SYMPTOM = "a batched layer is slow"
MECHANISM = """
A product of the batch with one matrix reads each weight once and uses it for all examples. With a
copy for each example every weight is read from memory for a single use.
"""
EXCEPTION = """
Where each example has weights of its own, as in an ensemble, there is no shared matrix.
"""
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html",)
ARTICLES = (
    {
        "article": "002",
        "place": "Correctly specify in_axes for mixed batched/unbatched arguments",
        "figure": "",
    },
)
TOLERANCE = 1e-4
SECONDS = 40.0


def do():
    """Apply one layer to a batch, with weights that are not mapped over."""
    import jax
    import jax.numpy as jnp

    def layer(x, w, b):
        return x @ w + b

    mapped = jax.jit(jax.vmap(layer, in_axes=(0, None, None)))
    return mapped, (jnp.ones((64, 128)), jnp.full((128, 128), 0.01), jnp.zeros(128))


def dont():
    """Apply one layer to a batch, with a copy of the weights for each example."""
    import jax
    import jax.numpy as jnp

    def layer(x, w, b):
        return x @ w + b

    mapped = jax.jit(jax.vmap(layer))

    def replicated(batch, w, b):
        copies = jnp.stack([w] * len(batch))
        return mapped(batch, copies, jnp.stack([b] * len(batch)))

    return replicated, (jnp.ones((64, 128)), jnp.full((128, 128), 0.01), jnp.zeros(128))
