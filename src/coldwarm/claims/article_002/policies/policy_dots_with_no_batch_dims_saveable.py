"""The policy `dots_with_no_batch_dims_saveable` keeps products, and computes activations again."""

ARTICLE = {
    "article": "002",
    "place": "Checkpoint policy options",
    "figure": "saves matmuls",
}
QUANTITY = "What a checkpointed function keeps for the way back, besides its arguments."
PROTOCOL = """
One process asks `jax.ad_checkpoint` what is kept of a function of two products, one of them with a
batch dimension, and two elementwise operations, under this policy and without checkpointing; and
compares the gradients.
"""
RULE = """
Confirmed where it keeps one product of the two, the one without a batch dimension, and nothing
else, and gradients agree. Refuted otherwise.
"""
FACTS = ({"functions": ("dots.kept",), "file": "_kept.py"},)
DOCS = (
    "https://docs.jax.dev/en/latest/gradient-checkpointing.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint_policies.dots_with_no_batch_dims_saveable.html",
)
NOTE = """
Products with a batch dimension, such as attention scores, are computed again as well: the table
says products, the name says which.
"""


def judge(seen):
    """Decide by the rule."""
    names = ("kept", "kept_products", "kept_without", "difference")
    kept, products, without, difference = (seen.fact("kept", name) for name in names)
    return seen.holds(kept == products == 1 and without > 1 and difference < 1e-5)
