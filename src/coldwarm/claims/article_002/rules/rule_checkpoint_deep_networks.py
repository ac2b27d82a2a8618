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
difference; refuted where it shows the opposite or no difference that matters; otherwise
inconclusive.
"""
PATTERNS = ("checkpointed-blocks",)


def judge(seen):
    """Decide by the rule."""
    verdicts = {seen.pattern(name).verdict for name in PATTERNS}
    if verdicts == {"as_stated"}:
        return "confirmed"
    return "refuted" if verdicts & {"opposite", "same"} else "inconclusive"
