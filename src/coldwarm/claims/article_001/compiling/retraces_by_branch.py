"""A branch on data makes a jitted function trace again each time the branch changes."""

ARTICLE = {
    "article": "001",
    "place": "Functional Purity as a Compiler Hint",
    "figure": "re-traces every time the branch changes",
}
QUANTITY = "The error of a jitted function with `if x.sum() > 0`, and how often it was traced."
PROTOCOL = """
One fresh process jits a function with a branch on the sum of its argument, and calls it with a
positive and a negative array, twice each. Traces are counted by a counter in the function's body.
"""
RULE = """
Confirmed where it gives results and has been traced more than twice. Refuted where it raises an
error, or has been traced at most once for each shape.
"""
FACTS = ({"functions": ("branching",)},)
DOCS = ("https://docs.jax.dev/en/latest/control-flow.html",)
NOTE = """
The other article says that such a branch raises TracerBoolConversionError, which is what happens:
there is no second trace, because there is no first result.
"""


def branching():
    """Branch on data inside a jitted function."""
    import jax
    import jax.numpy as jnp

    traces = []

    @jax.jit
    def f(x):
        traces.append(1)
        if x.sum() > 0:
            return x + 1
        return x - 1

    error = None
    try:
        for _ in range(2):
            f(jnp.ones(3)).block_until_ready()
            f(-jnp.ones(3)).block_until_ready()
    except jax.errors.ConcretizationTypeError as raised:
        error = type(raised).__name__
    return {"error": error, "traces": len(traces)}


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("branching")
    return seen.holds(shown["error"] is None and shown["traces"] > 2)
