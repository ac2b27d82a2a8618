"""Checkpointing the blocks of a deep network costs about 20 to 30 % more compute."""

ARTICLE = {
    "article": "002",
    "place": "Gradient checkpointing for deep networks",
    "figure": "20–30 %",
    "low": 1.2,
    "high": 1.3,
}
QUANTITY = (
    "The floating-point operations of a compiled gradient with checkpointed blocks, over without."
)
PROTOCOL = """
The gradient of four transformer blocks (64 wide, 4 heads, 128 tokens, batch 4, float32), written
one after the other so that the compiler's count has them all, with each block under
`jax.checkpoint` and without. Warm calls of both, in fresh processes, stand beside the counts.
"""
RULE = """
By the operations that the compiler counts: confirmed where there are between 16 % and 37.5 % more
with checkpointing (20 % below 20, 25 % above 30), refuted where outside.
"""
FACTS = ({"functions": ("four_in_a_row.operations",), "file": "_checkpointed.py"},)
BENCHES = (
    {
        "name": "gradient",
        "candidates": ("four_in_a_row.plain", "four_in_a_row.checkpointed"),
        "file": "_checkpointed.py",
        "regime": "warm",
        "seconds": 40.0,
        "tolerance": 1e-3,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/gradient-checkpointing.html",)
NOTE = """
The way of counting was a bad choice for the CPU: with the blocks one after the other, the compiler
finds that most of what is to be computed again is there already, and keeps it. So few operations
are added, and no memory is saved. Before the compiler, the program has a quarter more. In a scan,
where it cannot do so, the cost is tested as a claim of its own.
"""


def judge(seen):
    """Decide by the rule."""
    seen.ratio("checkpointed", "plain", "warm_call")
    return seen.holds(1.16 <= seen.fact("operations", "ratio") <= 1.375)
