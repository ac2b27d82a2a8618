"""`jax.grad` differentiates by the first argument, unless `argnums` says otherwise."""

ARTICLE = {
    "article": "001",
    "place": "Gradient Computation Differences",
    "figure": "first argument by default",
}
QUANTITY = "The derivatives of a²b³ at a = 2, b = 5."
PROTOCOL = "One process takes `grad(f)` and `grad(f, argnums=1)` at whole numbers, as floats."
RULE = "Confirmed where the first is 2ab³ = 500 and the second 3a²b² = 300; refuted otherwise."
FACTS = ({"functions": ("derivatives",)},)
DOCS = ("https://docs.jax.dev/en/latest/101/transformations.html",)


def derivatives():
    """Differentiate by each argument."""
    import jax

    def f(a, b):
        return a**2 * b**3

    by_default, by_second = jax.grad(f)(2.0, 5.0), jax.grad(f, argnums=1)(2.0, 5.0)
    return {"by_default": float(by_default), "by_second": float(by_second)}


def judge(seen):
    """Decide by the rule."""
    found = [seen.fact("derivatives", name) for name in ("by_default", "by_second")]
    return seen.holds(abs(found[0] - 500) < 0.01 and abs(found[1] - 300) < 0.01)
