"""Transfer data once at the start, and results once at the end."""

ARTICLE = {
    "article": "002",
    "place": "The 10 commandments of JAX performance",
    "figure": "2. Keep data on device",
}
QUANTITY = "The warm calls of a loop with transfers in every turn and with none."
PROTOCOL = """
As the pattern `device-transfer-in-loop` measures it: the rule's way against the other, on the same
work.
"""
RULE = """
Confirmed where the pattern shows what it states, with an interval or facts that exclude no
difference, at every decided point of its grid where it has one; depends where it does at some of
them; refuted where it shows the opposite or no difference that matters; otherwise inconclusive.
"""
PATTERNS = ("device-transfer-in-loop",)


def judge(seen):
    """Decide by the rule."""
    return seen.of_patterns(PATTERNS)
