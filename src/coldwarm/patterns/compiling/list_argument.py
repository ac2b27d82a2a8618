"""Pass an array to a jitted function, not a Python list of numbers."""

FRAMEWORK = "jax"
MEASURES = "first_call_s"
LINT = "list-argument"
SYMPTOM = "the first call takes long, and longer with a longer list; later calls are slow too"
MECHANISM = """
A list is a tree whose leaves are its numbers, so each number becomes an input of the program, and
is looked at on each call. An array is one input, whatever its length.
"""
EXCEPTION = """
A list of a few arrays, such as the parameters of some layers, is a tree as JAX means it.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/201/jit.html",
    "https://docs.jax.dev/en/latest/101/pytrees.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Python lists instead of arrays",
        "figure": "one tracer for each element",
    },
)
SECONDS = 40.0


def do():
    """Sum an array that was made of the list outside."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    @jax.jit
    def total(values):
        return jnp.sum(values)

    values = [float(n) for n in range(1000)]

    def call():
        return total(np.array(values, np.float32))

    return call, ()


def dont():
    """Sum a list, which is made an array inside."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def total(values):
        return jnp.sum(jnp.array(values))

    values = [float(n) for n in range(1000)]

    def call():
        return total(values)

    return call, ()
