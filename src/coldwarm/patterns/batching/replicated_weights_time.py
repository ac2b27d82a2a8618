"""Weights that are copied for each example cost time as well as memory."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
SYMPTOM = "a batched layer is slow"
MECHANISM = """
A product of the batch with one matrix reads each weight once and uses it for all examples. With a
copy for each example every weight is written once more and read for a single use, and the more so
the larger the batch.
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
SECONDS = 20.0
GRID = {"examples": (8, 32, 128, 512)}


def do(examples):
    """Apply one layer to a batch, with weights that are not mapped over."""
    import jax
    import jax.numpy as jnp

    def layer(w, b, x):
        return x @ w + b

    mapped = jax.jit(jax.vmap(layer, in_axes=(None, None, 0)))
    return mapped, (jnp.full((128, 128), 0.01), jnp.zeros(128), jnp.ones((examples, 128)))


def dont(examples):
    """Apply one layer to a batch, with a copy of the weights for each example."""
    import jax
    import jax.numpy as jnp

    def layer(w, b, x):
        return x @ w + b

    mapped = jax.jit(jax.vmap(layer))

    def replicated(w, b, batch):
        copies = jnp.stack([w] * len(batch))
        return mapped(copies, jnp.stack([b] * len(batch)), batch)

    return replicated, (jnp.full((128, 128), 0.01), jnp.zeros(128), jnp.ones((examples, 128)))
