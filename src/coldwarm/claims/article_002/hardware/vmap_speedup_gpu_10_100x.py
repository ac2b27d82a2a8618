"""On a GPU, `vmap` is 10 to 100 times as fast as a loop over the examples."""

ARTICLE = {
    "article": "002",
    "place": "Hardware-specific considerations: vmap speedup",
    "figure": "10–100×",
    "low": 10.0,
    "high": 100.0,
}
QUANTITY = """
A warm call of a loop over the examples of a batch over one of `jit(vmap)`, for batches of four
sizes.
"""
PROTOCOL = """
As the patterns `vmap-over-loop` and `vmap-over-compiled-loop` measure it: three layers (64 wide) on
4, 16, 64 and 256 examples, by `jit(vmap(…))` and by a Python loop whose results are stacked. The
only loop that the source writes out has no jit: so that loop decides.
"""
RULE = """
With each number of examples, the loop without jit over `vmap` holds where its interval lies between
8 and 125 (20 % below 10, 25 % above 100). Confirmed where it holds with more than half of the
numbers; depends where it holds with some and lies outside with others; refuted where it holds with
none and lies outside with more than half; otherwise inconclusive. The loop over a jitted function
is told beside it, and does not decide.
"""
NEEDS = "gpu"
PATTERNS = ("vmap-over-loop", "vmap-over-compiled-loop")
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html",)


def judge(seen):
    """Decide by the rule."""
    seen.pattern("vmap-over-compiled-loop")
    return seen.mostly(seen.over_points("vmap-over-loop"), 8.0, 125.0)
