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
Confirmed where all these patterns show what they state, with an interval or facts that exclude no
difference; refuted where one shows the opposite or no difference that matters; otherwise
inconclusive.
"""
PATTERNS = ("shape-padding", "shape-bucketing")


def judge(seen):
    """Decide by the rule."""
    verdicts = {seen.pattern(name).verdict for name in PATTERNS}
    if verdicts == {"as_stated"}:
        return "confirmed"
    return "refuted" if verdicts & {"opposite", "same"} else "inconclusive"
