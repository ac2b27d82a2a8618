"""Leave shared weights out of a map with `in_axes=None`, and do not copy them for each example."""

FRAMEWORK = "jax"
MEASURES = "peak_rss_bytes"
SYMPTOM = "memory grows with the batch times the weights"
MECHANISM = """
With `None` in `in_axes` an argument is the same for all examples, and exists once. Copies of it,
one for each example, have to be made, kept and read, and turn one product of matrices into many
small ones.
"""
EXCEPTION = """
Where each example has weights of its own, as in an ensemble, they are mapped over by right. What is
compared is the size of whole processes: copies that are small beside the framework do not show.
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
SECONDS = 60.0
GRID = {"examples": (16, 64, 256)}


def do(examples):
    """Apply one layer to a batch, with weights that are not mapped over."""
    import jax
    import jax.numpy as jnp

    def layer(w, b, x):
        return x @ w + b

    mapped = jax.jit(jax.vmap(layer, in_axes=(None, None, 0)))
    return mapped, (jnp.full((512, 512), 0.01), jnp.zeros(512), jnp.ones((examples, 512)))


def dont(examples):
    """Apply one layer to a batch, with a copy of the weights for each example."""
    import jax.numpy as jnp

    def layer(w, b, batch):
        copies = jnp.stack([w] * len(batch))
        biases = jnp.stack([b] * len(batch))
        return jnp.einsum("bi,bij->bj", batch, copies) + biases

    return layer, (jnp.full((512, 512), 0.01), jnp.zeros(512), jnp.ones((examples, 512)))
