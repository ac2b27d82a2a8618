"""Profile before optimising, with JAX's profiler."""

ARTICLE = {
    "article": "002",
    "place": "The 10 commandments of JAX performance",
    "figure": "10. Profile before optimizing",
}
QUANTITY = "What JAX's profiler and what Python's shows of a program."
PROTOCOL = """
As the pattern `profiler-trace` measures it: the rule's way against the other, on the same work.
"""
RULE = """
Confirmed where the pattern shows what it states, with an interval or facts that exclude no
difference; refuted where it shows the opposite or no difference that matters; otherwise
inconclusive.
"""
PATTERNS = ("profiler-trace",)


def judge(seen):
    """Decide by the rule."""
    verdicts = {seen.pattern(name).verdict for name in PATTERNS}
    if verdicts == {"as_stated"}:
        return "confirmed"
    return "refuted" if verdicts & {"opposite", "same"} else "inconclusive"
