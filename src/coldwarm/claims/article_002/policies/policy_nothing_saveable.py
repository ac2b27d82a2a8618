"""The policy `nothing_saveable` keeps nothing, and computes everything again."""

ARTICLE = {
    "article": "002",
    "place": "Checkpoint policy options",
    "figure": "saves nothing",
}
QUANTITY = "What a checkpointed function keeps for the way back, besides its arguments."
PROTOCOL = """
One process asks `jax.ad_checkpoint` what is kept of a function of two products, one of them with a
batch dimension, and two elementwise operations, under this policy and without checkpointing; and
compares the gradients.
"""
RULE = """
Confirmed where it keeps nothing besides arguments, where without it something is kept, and
gradients agree. Refuted otherwise.
"""
FACTS = ({"functions": ("nothing.kept",), "file": "_kept.py"},)
DOCS = (
    "https://docs.jax.dev/en/latest/gradient-checkpointing.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint_policies.nothing_saveable.html",
)


def judge(seen):
    """Decide by the rule."""
    names = ("kept", "kept_products", "kept_without", "difference")
    kept, _, without, difference = (seen.fact("kept", name) for name in names)
    return seen.holds(kept == 0 < without and difference < 1e-5)
