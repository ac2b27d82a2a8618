"""One jit around the whole training step is 2 to 10 times as fast as a jit for each part."""

ARTICLE = {
    "article": "002",
    "place": "JIT at the outermost possible scope",
    "figure": "2–10×",
    "low": 2.0,
    "high": 10.0,
}
QUANTITY = "A warm call of a step whose parts are jitted over one of the step jitted as a whole."
PROTOCOL = """
As the pattern `jit-outermost` measures it: a training step of eight layers, jitted once, and with
the loss, its gradient and the update jitted each for itself, as the source has it; 8, 32, 128 and
512 wide.
"""
RULE = """
At each width the ratio holds where its interval lies between 1.6 and 12.5 (20 % below 2, 25 % above
10). Confirmed where it holds at more than half of the widths; depends where it holds at some and
lies outside at others; refuted where it holds at none and lies outside at more than half; otherwise
inconclusive.
"""
PATTERNS = ("jit-outermost",)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
Three programs cost three dispatches, arrays between them, and the forward pass twice. How much that
is depends on how long the work itself takes.
"""


def judge(seen):
    """Decide by the rule."""
    return seen.mostly(seen.over_points("jit-outermost"), 1.6, 12.5)
