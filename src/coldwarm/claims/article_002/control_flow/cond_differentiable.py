"""`lax.cond` runs under jit, and is differentiated through both branches."""

ARTICLE = {
    "article": "002",
    "place": "Control flow primitive reference",
    "figure": "jit ✓, both branches",
}
QUANTITY = "Whether it runs under jit, and which derivatives are taken through it."
PROTOCOL = """
One process jits a choice between x² and x³ by the sign of a number, and takes the derivative by x
at 2 on either side.
"""
RULE = """
Confirmed where values are 4 and 8, and derivatives 4 and 12. Refuted otherwise.
"""
FACTS = ({"functions": ("derivatives",)},)
DOCS = ("https://docs.jax.dev/en/latest/control-flow.html",)
NOTE = """
Only the branch that is taken is computed, and differentiated. Under `vmap` with a condition for
each example, both are, and one is chosen.
"""


def derivatives():
    """Take values and derivatives of both branches."""
    import jax

    @jax.jit
    def choose(x, sign):
        return jax.lax.cond(sign > 0, lambda x: x**2, lambda x: x**3, x)

    derivative = jax.jit(jax.grad(choose))
    return {
        "value_true": float(choose(2.0, 1.0)),
        "value_false": float(choose(2.0, -1.0)),
        "slope_true": float(derivative(2.0, 1.0)),
        "slope_false": float(derivative(2.0, -1.0)),
    }


def judge(seen):
    """Decide by the rule."""
    names = ("value_true", "value_false", "slope_true", "slope_false")
    found = [seen.fact("derivatives", name) for name in names]
    wanted = (4, 8, 4, 12)
    return seen.holds(all(abs(a - b) < 1e-3 for a, b in zip(found, wanted, strict=True)))
