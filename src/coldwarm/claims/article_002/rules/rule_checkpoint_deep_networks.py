"""Checkpoint deep networks, trading compute for memory."""

ARTICLE = {
    "article": "002",
    "place": "The 10 commandments of JAX performance",
    "figure": "7. Checkpoint deep networks",
}
QUANTITY = "The peak memory of a gradient with checkpointed blocks and without."
PROTOCOL = """
As the pattern `checkpointed-blocks` measures it: the rule's way against the other, on the same
work.
"""
RULE = """
Confirmed where the pattern shows what it states, with an interval or facts that exclude no
difference, at every decided point of its grid where it has one; depends where it does at some of
them; refuted where it shows the opposite or no difference that matters; otherwise inconclusive.
"""
PATTERNS = ("checkpointed-blocks",)


def judge(seen):
    """Decide by the rule."""
    return seen.of_patterns(PATTERNS)
