"""Wait for the result before reading the clock."""

ARTICLE = {
    "article": "002",
    "place": "The 10 commandments of JAX performance",
    "figure": "9. block_until_ready",
}
QUANTITY = "The times of a call that were read with waiting and without."
PROTOCOL = """
As the pattern `missing-sync-timing` measures it: the rule's way against the other, on the same
work.
"""
RULE = """
Confirmed where the pattern shows what it states, with an interval or facts that exclude no
difference, at every decided point of its grid where it has one; depends where it does at some of
them; refuted where it shows the opposite or no difference that matters; otherwise inconclusive.
"""
PATTERNS = ("missing-sync-timing",)


def judge(seen):
    """Decide by the rule."""
    return seen.of_patterns(PATTERNS)
