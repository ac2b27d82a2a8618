"""Checkpointing the body of a scan costs about 20 to 30 % more compute."""

ARTICLE = {
    "article": "002",
    "place": "Gradient checkpointing for deep networks",
    "figure": "20–30 %",
    "low": 1.2,
    "high": 1.3,
}
QUANTITY = "A warm call of a gradient with checkpointed blocks in a scan over one without."
PROTOCOL = """
The gradient of eight transformer blocks in a scan (64 wide, 4 heads, 128 tokens, batch 4, float32),
with the block under `jax.checkpoint` and without. Same answer, fresh processes, warm calls. What
the programs need in temporary memory is compared beside it.
"""
RULE = """
Inconclusive where checkpointing saves less than half of the temporary memory, as nothing is then
traded. Otherwise confirmed where the interval of the ratio lies between 1.16 and 1.375 (20 % below
20, 25 % above 30), refuted where it lies outside, inconclusive between.
"""
FACTS = ({"functions": ("eight_in_a_scan.savings",), "file": "_checkpointed.py"},)
BENCHES = (
    {
        "name": "gradient",
        "candidates": ("eight_in_a_scan.plain", "eight_in_a_scan.checkpointed"),
        "file": "_checkpointed.py",
        "regime": "warm",
        "seconds": 40.0,
        "tolerance": 1e-3,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/gradient-checkpointing.html",)
NOTE = """
More operations need not mean more time: what is computed again need not be written to memory and
read from there.
"""


def judge(seen):
    """Decide by the rule."""
    ratio = seen.ratio("checkpointed", "plain", "warm_call")
    if seen.fact("savings", "saved") < 0.5:
        return "inconclusive"
    return seen.within(ratio, 1.16, 1.375)
