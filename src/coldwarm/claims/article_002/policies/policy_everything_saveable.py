"""The policy `everything_saveable` keeps everything, as without checkpointing."""

ARTICLE = {
    "article": "002",
    "place": "Checkpoint policy options",
    "figure": "saves everything",
}
QUANTITY = "What a checkpointed function keeps for the way back, besides its arguments."
PROTOCOL = """
One process asks `jax.ad_checkpoint` what is kept of a function of two products, one of them with a
batch dimension, and two elementwise operations, under this policy and without checkpointing; and
compares the gradients.
"""
RULE = """
Confirmed where it keeps at least as much as without checkpointing, and gradients agree. Refuted
otherwise.
"""
FACTS = ({"functions": ("everything.kept",), "file": "_kept.py"},)
DOCS = (
    "https://docs.jax.dev/en/latest/gradient-checkpointing.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint_policies.everything_saveable.html",
)


def judge(seen):
    """Decide by the rule."""
    names = ("kept", "kept_products", "kept_without", "difference")
    kept, _, without, difference = (seen.fact("kept", name) for name in names)
    return seen.holds(kept >= without > 0 and difference < 1e-5)
