"""`lax.switch` runs under jit, and is differentiated through all branches."""

ARTICLE = {
    "article": "002",
    "place": "Control flow primitive reference",
    "figure": "jit ✓, all branches",
}
QUANTITY = "Whether it runs under jit, and which derivatives are taken through it."
PROTOCOL = """
One process jits a choice among x, x² and x³ by an index, and takes value and derivative at 2 of
each.
"""
RULE = """
Confirmed where values are 2, 4 and 8, and derivatives 1, 4 and 12. Refuted otherwise.
"""
FACTS = ({"functions": ("derivatives",)},)
DOCS = ("https://docs.jax.dev/en/latest/control-flow.html",)
NOTE = """
An index outside is clamped to the first or the last branch, without an error.
"""


def derivatives():
    """Take values and derivatives of all branches."""
    import jax

    @jax.jit
    def choose(x, which):
        return jax.lax.switch(which, [lambda x: x, lambda x: x**2, lambda x: x**3], x)

    derivative = jax.jit(jax.grad(choose))
    values = [float(choose(2.0, n)) for n in range(3)]
    slopes = [float(derivative(2.0, n)) for n in range(3)]
    return {"values": f"{values}", "slopes": f"{slopes}"}


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("derivatives")
    found = shown["values"], shown["slopes"]
    return seen.holds(found == ("[2.0, 4.0, 8.0]", "[1.0, 4.0, 12.0]"))
