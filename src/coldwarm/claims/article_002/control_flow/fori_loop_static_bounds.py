"""`lax.fori_loop` is differentiated in reverse only where its bounds are static."""

ARTICLE = {
    "article": "002",
    "place": "Control flow primitive reference",
    "figure": "jit ✓, static bounds only",
}
QUANTITY = "Whether it runs under jit, and which derivatives are taken through it."
PROTOCOL = """
One process jits three doublings of x in a `fori_loop`, with the number of turns as a number and as
a traced argument, and takes the derivative by x: in reverse for both, forward for the traced one.
"""
RULE = """
Confirmed where both run, the reverse derivative is 8 with static bounds and an error with a traced
bound. Refuted otherwise.
"""
FACTS = ({"functions": ("derivatives",)},)
DOCS = ("https://docs.jax.dev/en/latest/control-flow.html",)
NOTE = """
With static bounds the loop becomes a `scan`, with traced ones a `while_loop`. Forward derivatives
are taken through both.
"""


def derivatives():
    """Take derivatives with static and with traced bounds."""
    import jax

    def double(x, turns):
        return jax.lax.fori_loop(0, turns, lambda _, x: x * 2, x)

    def static(x):
        return double(x, 3)

    error = None
    try:
        jax.jit(jax.grad(double))(1.0, 3)
    except ValueError as raised:
        error = type(raised).__name__
    forward = jax.jit(lambda x, turns: jax.jvp(lambda x: double(x, turns), (x,), (1.0,))[1])
    return {
        "value_static": float(jax.jit(static)(1.0)),
        "value_traced": float(jax.jit(double)(1.0, 3)),
        "slope_static": float(jax.jit(jax.grad(static))(1.0)),
        "error_traced": error,
        "forward_traced": float(forward(1.0, 3)),
    }


def judge(seen):
    """Decide by the rule."""
    names = ("value_static", "value_traced", "slope_static")
    found = [seen.fact("derivatives", name) for name in names]
    return seen.holds(found == [8, 8, 8] and seen.facts("derivatives")["error_traced"] is not None)
