"""`lax.while_loop` is differentiated forward only."""

ARTICLE = {
    "article": "002",
    "place": "Control flow primitive reference",
    "figure": "jit ✓, forward only",
}
QUANTITY = "Whether it runs under jit, and which derivatives are taken through it."
PROTOCOL = """
One process jits a loop that doubles x until it exceeds 5, and takes the derivative at 1 forward by
`jvp` and in reverse by `grad`.
"""
RULE = """
Confirmed where it runs, the forward derivative is 8, and the reverse one an error. Refuted
otherwise.
"""
FACTS = ({"functions": ("derivatives",)},)
DOCS = ("https://docs.jax.dev/en/latest/control-flow.html",)


def derivatives():
    """Take derivatives forward and in reverse."""
    import jax

    def double(x):
        return jax.lax.while_loop(lambda x: x < 5, lambda x: x * 2, x)

    error = None
    try:
        jax.jit(jax.grad(double))(1.0)
    except ValueError as raised:
        error = type(raised).__name__
    return {
        "value": float(jax.jit(double)(1.0)),
        "forward": float(jax.jit(jax.jacfwd(double))(1.0)),
        "error_reverse": error,
    }


def judge(seen):
    """Decide by the rule."""
    found = [seen.fact("derivatives", name) for name in ("value", "forward")]
    return seen.holds(found == [8, 8] and seen.facts("derivatives")["error_reverse"] is not None)
