"""Pad or bucket shapes to avoid compiling again."""

ARTICLE = {
    "article": "002",
    "place": "The 10 commandments of JAX performance",
    "figure": "3. Use fixed shapes",
}
QUANTITY = "The first calls with changing lengths, as they are, padded and in buckets."
PROTOCOL = """
As the patterns `shape-padding` and `shape-bucketing` measure it: the rule's way against the other,
on the same work.
"""
RULE = """
Confirmed where all these patterns show what they state, with intervals or facts that exclude no
difference, at every decided point of their grids; refuted where one shows the opposite or no
difference that matters; depends where one holds at some points and all others as they state;
otherwise inconclusive.
"""
PATTERNS = ("shape-padding", "shape-bucketing")


def judge(seen):
    """Decide by the rule."""
    return seen.of_patterns(PATTERNS)
