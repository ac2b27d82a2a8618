"""Make a length static, or mask an array of fixed length: a traced number cannot be a shape."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "TypeError: shapes must be of concrete values"
MECHANISM = """
A program is compiled for arrays of known shapes, so that memory can be planned. A traced length is
known only when the program runs; as a mask over an array of the greatest length it can be.
"""
EXCEPTION = """
A length with few values may be a static argument: each has a program of its own.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/errors.html",
    "https://docs.jax.dev/en/latest/201/jit.html#marking-arguments-as-static",
)
ARTICLES = (
    {"article": "002", "place": "Dynamic shapes inside traced functions", "figure": "an error"},
)
STATED = "With a mask, lengths 3 and 5 give the right sums from one trace; as a shape, a traced \
length raises a TypeError."


def do():
    """Fill the first elements of an array of fixed length."""
    import jax
    import jax.numpy as jnp

    traced = []

    @jax.jit
    def filled(length, value):
        traced.append(1)
        return jnp.where(jnp.arange(8) < length, value, 0.0)

    return {
        "of_3": float(filled(3, 2.0).sum()),
        "of_5": float(filled(5, 2.0).sum()),
        "traced": len(traced),
    }


def dont():
    """Make an array of a traced length."""
    import jax
    import jax.numpy as jnp

    traced = []

    @jax.jit
    def filled(length, value):
        traced.append(1)
        return jnp.ones((length,)) * value

    return {
        "of_3": float(filled(3, 2.0).sum()),
        "of_5": float(filled(5, 2.0).sum()),
        "traced": len(traced),
    }


def holds(do, dont):
    """Say whether a mask gives the sums from one trace, and a traced length an error."""
    right = (do["of_3"], do["of_5"], do["traced"]) == (6.0, 10.0, 1)
    return right and dont["raised"] == "TypeError"
