"""Branch and loop with JAX's primitives, not in Python."""

ARTICLE = {
    "article": "002",
    "place": "The 10 commandments of JAX performance",
    "figure": "4. Use JAX control flow",
}
QUANTITY = "The error of a branch in Python, and the size of a program with a loop in Python."
PROTOCOL = """
As the patterns `traced-branch` and `python-loop-unrolled` measure it: the rule's way against the
other, on the same work.
"""
RULE = """
Confirmed where all these patterns show what they state, with intervals or facts that exclude no
difference, at every decided point of their grids; refuted where one shows the opposite or no
difference that matters; depends where one holds at some points and all others as they state;
otherwise inconclusive.
"""
PATTERNS = ("traced-branch", "python-loop-unrolled")


def judge(seen):
    """Decide by the rule."""
    return seen.of_patterns(PATTERNS)
