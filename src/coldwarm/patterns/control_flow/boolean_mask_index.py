"""Keep an array's shape and choose with `where`, instead of indexing by a mask."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "NonConcreteBooleanIndexError"
MECHANISM = """
How many elements a mask keeps depends on its values, and a compiled program has to know the shape
of every array beforehand. `where` keeps the shape, with a neutral value in place of what is left
out.
"""
EXCEPTION = """
Outside of `jit` indexing by a mask works; and assigning through one, `x.at[mask].set(0)`, works
inside too, because the shape stays.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.where.html",
    "https://docs.jax.dev/en/latest/errors.html",
)
ARTICLES = (
    {"article": "002", "place": "Dynamic shapes inside traced functions", "figure": "an error"},
)
STATED = "The sum of the positive elements comes out with `where`; indexing by the mask raises \
NonConcreteBooleanIndexError."


def do():
    """Sum the positive elements, with zero for the others."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def positive_sum(x):
        return jnp.sum(jnp.where(x > 0, x, 0.0))

    return {"sum": float(positive_sum(jnp.arange(-3.0, 4.0)))}


def dont():
    """Sum the positive elements, taken out by a mask."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def positive_sum(x):
        return jnp.sum(x[x > 0])

    return {"sum": float(positive_sum(jnp.arange(-3.0, 4.0)))}


def holds(do, dont):
    """Say whether `where` gives the sum, and the mask an error."""
    return do["sum"] == 6.0 and dont["raised"] == "NonConcreteBooleanIndexError"
