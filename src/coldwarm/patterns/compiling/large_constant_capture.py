"""Pass large arrays as arguments, instead of closing over them."""

FRAMEWORK = "jax"
MEASURES = "first_call_s"
SYMPTOM = "compiling takes long and needs memory, more with larger arrays"
MECHANISM = """
An array that a jitted function closes over becomes a constant of the program: it is copied into its
text, looked through by the compiler, and compiled anew for each other value. An argument is merely
named there, by shape and type.
"""
EXCEPTION = """
A small constant, such as the coefficients of a stencil, lets the compiler compute ahead what
depends on it alone, and hardly costs more than an argument.
"""
DOCS = ("https://docs.jax.dev/en/latest/internals/constants.html",)
ARTICLES = ()
TOLERANCE = 1e-4
SECONDS = 45.0
GRID = {"side": (100, 1000, 2000)}


def do(side):
    """Multiply with weights that are an argument."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    weights = jnp.asarray(np.full((side, side), 0.001, np.float32))

    @jax.jit
    def layer(x, weights):
        return jnp.tanh(x @ weights)

    return layer, (np.ones(side, np.float32), weights)


def dont(side):
    """Multiply with weights that are captured."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    weights = jnp.asarray(np.full((side, side), 0.001, np.float32))

    @jax.jit
    def layer(x):
        return jnp.tanh(x @ weights)

    return layer, (np.ones(side, np.float32),)
