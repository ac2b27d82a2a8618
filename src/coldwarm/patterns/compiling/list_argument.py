"""Pass an array to a jitted function, not a Python list of numbers."""

FRAMEWORK = "jax"
MEASURES = "first_call_s"
SYMPTOM = "the first call takes long, and longer with a longer list; later calls are slow too"
MECHANISM = """
A list is a tree whose leaves are its numbers, so each number becomes an input of the program, and
is looked at on each call. An array is one input, whatever its length.
"""
EXCEPTION = """
A list of a few arrays, such as the parameters of some layers, is a tree as JAX means it; and a list
of a few numbers costs hardly more than an array of them.
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
SECONDS = 22.0
GRID = {"numbers": (10, 100, 1000)}


def do(numbers):
    """Sum an array that was made of the list outside."""
    import jax
    import numpy as np

    @jax.jit
    def total(values):
        return values.sum()

    values = [float(n) for n in range(numbers)]

    def call():
        return total(np.array(values, np.float32))

    return call, ()


def dont(numbers):
    """Sum a list, which is made an array inside."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def total(values):
        return jnp.array(values).sum()

    values = [float(n) for n in range(numbers)]

    def call():
        return total(values)

    return call, ()
