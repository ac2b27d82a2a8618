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
Confirmed where all these patterns show what they state, with an interval or facts that exclude no
difference; refuted where one shows the opposite or no difference that matters; otherwise
inconclusive.
"""
PATTERNS = ("key-reuse", "key-not-split-in-loop")


def judge(seen):
    """Decide by the rule."""
    verdicts = {seen.pattern(name).verdict for name in PATTERNS}
    if verdicts == {"as_stated"}:
        return "confirmed"
    return "refuted" if verdicts & {"opposite", "same"} else "inconclusive"
