"""Jit the whole training step, not single operations."""

ARTICLE = {
    "article": "002",
    "place": "The 10 commandments of JAX performance",
    "figure": "1. JIT everything",
}
QUANTITY = "The warm calls of a step jitted as a whole, in parts, and not at all."
PROTOCOL = """
As the patterns `jit-outermost` and `jit-hot-loop` measure it: the rule's way against the other, on
the same work.
"""
RULE = """
Confirmed where all these patterns show what they state, with intervals or facts that exclude no
difference, at every decided point of their grids; refuted where one shows the opposite or no
difference that matters; depends where one holds at some points and all others as they state;
otherwise inconclusive.
"""
PATTERNS = ("jit-outermost", "jit-hot-loop")


def judge(seen):
    """Decide by the rule."""
    return seen.of_patterns(PATTERNS)
