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
Confirmed where all these patterns show what they state, with an interval or facts that exclude no
difference; refuted where one shows the opposite or no difference that matters; otherwise
inconclusive.
"""
PATTERNS = ("traced-branch", "python-loop-unrolled")


def judge(seen):
    """Decide by the rule."""
    verdicts = {seen.pattern(name).verdict for name in PATTERNS}
    if verdicts == {"as_stated"}:
        return "confirmed"
    return "refuted" if verdicts & {"opposite", "same"} else "inconclusive"
