"""Go on with what a step returns: a buffer that was donated to it is gone."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "`RuntimeError: Array has been deleted`"
MECHANISM = """
Donating gives an array's memory to the compiled function, which writes its results there. The
array that was given is marked as deleted, and every later use of it raises.
"""
EXCEPTION = """
None: whoever needs the old values donates a copy of them, or does not donate.
"""
DOCS = ("https://docs.jax.dev/en/latest/buffer_donation.html",)
ARTICLES = (
    {
        "article": "002",
        "place": "Buffer donation for in-place-style updates",
        "figure": "an error",
    },
)
STATED = "The new parameters can be read; reading the donated ones raises."


def do():
    """Read the parameters that the update returned."""
    import jax
    import jax.numpy as jnp

    update = jax.jit(lambda params: params - 0.1, donate_argnums=0)
    params = update(jnp.ones(1000))
    return {"sum": float(params.sum())}


def dont():
    """Read the parameters that were donated to the update."""
    import jax
    import jax.numpy as jnp

    update = jax.jit(lambda params: params - 0.1, donate_argnums=0)
    params = jnp.ones(1000)
    update(params)
    return {"sum": float(params.sum())}


def holds(do, dont):
    """Say whether only the use of what was donated raises."""
    return do["raised"] is None and abs(do["sum"] - 900) < 1 and dont["raised"] == "RuntimeError"
