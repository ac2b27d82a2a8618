"""Whoever forgets `argnums` for a gradient by the data gets an error."""

ARTICLE = {
    "article": "001",
    "place": "Gradient Computation Differences",
    "figure": "a cryptic error",
}
QUANTITY = "What `grad(loss)` of a loss of parameters and data gives without `argnums`."
PROTOCOL = """
One process asks for `grad(loss)(params, data)`, with parameters and data of floats and of unlike
shapes; then once more with a first argument of whole numbers.
"""
RULE = """
Confirmed where the first raises an error. Refuted where it quietly gives the gradient by the
parameters; inconclusive where it gives something else.
"""
FACTS = ({"functions": ("forgotten",)},)
DOCS = ("https://docs.jax.dev/en/latest/101/transformations.html",)
NOTE = """
An error comes only where the first argument cannot be differentiated by, as whole numbers cannot.
Else the answer is silently another: the shape is all that tells.
"""


def forgotten():
    """Take the gradient without saying by what."""
    import jax
    import jax.numpy as jnp

    def loss(params, data):
        return jnp.sum(params[0] * data) ** 2.0

    def attempt(params, data):
        try:
            return None, jax.grad(loss)(params, data).shape
        except TypeError as error:
            return type(error).__name__, ()

    data = jnp.arange(6.0).reshape(2, 3)
    error, shape = attempt(jnp.ones(4), data)
    of_integers, _ = attempt(jnp.ones(4, jnp.int32), data)
    return {"error": error, "shaped_as_params": shape == (4,), "error_of_integers": of_integers}


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("forgotten")
    if shown["error"] is not None:
        return "confirmed"
    return "refuted" if shown["shaped_as_params"] else "inconclusive"
