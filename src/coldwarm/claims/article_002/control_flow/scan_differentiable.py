"""`lax.scan` runs under jit, and is differentiated both ways."""

ARTICLE = {
    "article": "002",
    "place": "Control flow primitive reference",
    "figure": "jit ✓, differentiable ✓",
}
QUANTITY = "Whether it runs under jit, and which derivatives are taken through it."
PROTOCOL = """
One process jits a scan that doubles x three times and gives all values, and takes the derivative of
their sum at 1 forward and in reverse.
"""
RULE = """
Confirmed where the sum is 14, and both derivatives are 14. Refuted otherwise.
"""
FACTS = ({"functions": ("derivatives",)},)
DOCS = ("https://docs.jax.dev/en/latest/control-flow.html",)


def derivatives():
    """Take derivatives forward and in reverse."""
    import jax
    import jax.numpy as jnp

    def total(x):
        _, values = jax.lax.scan(lambda x, _: (x * 2, x * 2), x, length=3)
        return jnp.sum(values)

    return {
        "value": float(jax.jit(total)(1.0)),
        "forward": float(jax.jit(jax.jacfwd(total))(1.0)),
        "reverse": float(jax.jit(jax.grad(total))(1.0)),
    }


def judge(seen):
    """Decide by the rule."""
    names = ("value", "forward", "reverse")
    return seen.holds([seen.fact("derivatives", name) for name in names] == [14, 14, 14])
