"""A `TracerBoolConversionError` comes of a Python branch, and `lax.cond` cures it."""

ARTICLE = {
    "article": "002",
    "place": "Detection cheat sheet: TracerBoolConversionError",
    "figure": "use lax.cond",
}
QUANTITY = "The errors of a jitted branch on data, by `if` and by `lax.cond`, and its values."
PROTOCOL = """
One process jits a division that is guarded against zero, once by `if`, once by `lax.cond`, and
calls both with 2 and with 0.
"""
RULE = """
Confirmed where `if` raises `TracerBoolConversionError`, and `lax.cond` gives 0.5 and 0. Refuted
otherwise.
"""
FACTS = ({"functions": ("divided",)},)
DOCS = ("https://docs.jax.dev/en/latest/control-flow.html",)
NOTE = """
The other article says that such a function is traced anew for each branch. It is not: it raises
this error, whatever the value.
"""


def divided():
    """Divide behind an `if`, and behind a `cond`."""
    import jax

    @jax.jit
    def by_if(x):
        if x != 0:
            return 1 / x
        return x * 0

    @jax.jit
    def by_cond(x):
        return jax.lax.cond(x != 0, lambda x: 1 / x, lambda x: x * 0, x)

    error = None
    try:
        by_if(2.0)
    except jax.errors.ConcretizationTypeError as raised:
        error = type(raised).__name__
    return {"error": error, "of_two": float(by_cond(2.0)), "of_zero": float(by_cond(0.0))}


def judge(seen):
    """Decide by the rule."""
    values = [seen.fact("divided", name) for name in ("of_two", "of_zero")]
    error = seen.facts("divided")["error"]
    return seen.holds(error == "TracerBoolConversionError" and values == [0.5, 0.0])
