"""Map over the batch with `vmap`, rather than loop."""

ARTICLE = {
    "article": "002",
    "place": "The 10 commandments of JAX performance",
    "figure": "8. vmap, don't loop",
}
QUANTITY = (
    "The warm calls of a batch by `vmap` and by a loop, without jit and over a jitted function."
)
PROTOCOL = """
As the patterns `vmap-over-loop` and `vmap-over-compiled-loop` measure it, with batches of several
sizes: the rule's way against a loop without jit and against one over a jitted function.
"""
RULE = """
Confirmed where all these patterns show what they state, with intervals or facts that exclude no
difference, at every decided point of their grids; refuted where one shows the opposite or no
difference that matters; depends where one holds at some points and all others as they state;
otherwise inconclusive.
"""
PATTERNS = ("vmap-over-loop", "vmap-over-compiled-loop")


def judge(seen):
    """Decide by the rule."""
    return seen.of_patterns(PATTERNS)
