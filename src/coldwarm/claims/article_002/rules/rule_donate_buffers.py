"""Donate buffers in training loops."""

ARTICLE = {
    "article": "002",
    "place": "The 10 commandments of JAX performance",
    "figure": "6. Donate buffers",
}
QUANTITY = "The peak memory of a step with donated arguments and without."
PROTOCOL = """
As the pattern `no-donation` measures it: the rule's way against the other, on the same work.
"""
RULE = """
Confirmed where the pattern shows what it states, with an interval or facts that exclude no
difference, at every decided point of its grid where it has one; depends where it does at some of
them; refuted where it shows the opposite or no difference that matters; otherwise inconclusive.
"""
PATTERNS = ("no-donation",)


def judge(seen):
    """Decide by the rule."""
    return seen.of_patterns(PATTERNS)
