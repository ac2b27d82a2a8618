"""Map over the batch with `vmap`, rather than loop."""

ARTICLE = {
    "article": "002",
    "place": "The 10 commandments of JAX performance",
    "figure": "8. vmap, don't loop",
}
QUANTITY = "The warm calls of a batch by `vmap` and by a loop."
PROTOCOL = """
As the pattern `vmap-over-loop` measures it: the rule's way against the other, on the same work.
"""
RULE = """
Confirmed where the pattern shows what it states, with an interval or facts that exclude no
difference; refuted where it shows the opposite or no difference that matters; otherwise
inconclusive.
"""
PATTERNS = ("vmap-over-loop",)


def judge(seen):
    """Decide by the rule."""
    verdicts = {seen.pattern(name).verdict for name in PATTERNS}
    if verdicts == {"as_stated"}:
        return "confirmed"
    return "refuted" if verdicts & {"opposite", "same"} else "inconclusive"
