"""Split keys, and never use one twice."""

ARTICLE = {
    "article": "002",
    "place": "The 10 commandments of JAX performance",
    "figure": "5. Split PRNG keys",
}
QUANTITY = "Whether random numbers repeat, with keys that are split and that are not."
PROTOCOL = """
As the patterns `key-reuse` and `key-not-split-in-loop` measure it: the rule's way against the
other, on the same work.
"""
RULE = """
Confirmed where all these patterns show what they state, with intervals or facts that exclude no
difference, at every decided point of their grids; refuted where one shows the opposite or no
difference that matters; depends where one holds at some points and all others as they state;
otherwise inconclusive.
"""
PATTERNS = ("key-reuse", "key-not-split-in-loop")


def judge(seen):
    """Decide by the rule."""
    return seen.of_patterns(PATTERNS)
