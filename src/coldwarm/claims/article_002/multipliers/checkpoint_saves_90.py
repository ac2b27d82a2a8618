"""Checkpointing the blocks of a deep network saves more than 90 % of the memory."""

ARTICLE = {
    "article": "002",
    "place": "Gradient checkpointing for deep networks",
    "figure": "90 %+",
    "low": 0.9,
}
QUANTITY = "The temporary memory of a compiled gradient, with and without checkpointed blocks."
PROTOCOL = """
The gradient of 32 transformer blocks in a scan (64 wide, 4 heads, 128 tokens, batch 4, float32) is
compiled with each block under `jax.checkpoint` and without; the sizes of the programs' temporary
arrays are compared.
"""
RULE = "Confirmed where checkpointing saves at least 90 %; refuted where it saves less."
FACTS = ({"functions": ("many_in_a_scan.savings",), "file": "_checkpointed.py"},)
DOCS = ("https://docs.jax.dev/en/latest/gradient-checkpointing.html",)
NOTE = """
What is left is the input of each block, and all of one block. The more a block keeps beside its
input, the more is saved: long sequences save more than short ones.
"""


def judge(seen):
    """Decide by the rule."""
    return seen.holds(seen.fact("savings", "saved") >= 0.9)
