"""Begin a loop's state with an array of its own type, not with a Python number."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "the second call compiles too"
MECHANISM = """
A Python number is an input of weak type, which takes on the type of what it meets; the result has
a strong one. Fed back, it is another type to `jit`, which traces and compiles again.
"""
EXCEPTION = """
A number that is given anew on every call, such as a learning rate, is weak each time and needs
one program alone.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/type_promotion.html",
    "https://docs.jax.dev/en/latest/201/jit.html#jit-and-caching",
)
ARTICLES = ({"article": "002", "place": "Detection cheat sheet", "figure": ""},)
STATED = "Five turns are traced once from an array of float32, and twice from a Python number."


def do():
    """Begin a running mean with a float32."""
    import jax
    import jax.numpy as jnp

    traced = []

    @jax.jit
    def updated(mean, x):
        traced.append(mean.weak_type)
        return 0.9 * mean + 0.1 * x.mean()

    mean = jnp.zeros((), jnp.float32)
    for _ in range(5):
        mean = updated(mean, jnp.ones(100))
    return {"traced": len(traced), "mean": float(mean)}


def dont():
    """Begin a running mean with a Python number."""
    import jax
    import jax.numpy as jnp

    traced = []

    @jax.jit
    def updated(mean, x):
        traced.append(mean.weak_type)
        return 0.9 * mean + 0.1 * x.mean()

    mean = 0.0
    for _ in range(5):
        mean = updated(mean, jnp.ones(100))
    return {"traced": len(traced), "mean": float(mean)}


def holds(do, dont):
    """Say whether a Python number costs a second trace, for the same result."""
    same = abs(do["mean"] - dont["mean"]) < 1e-6
    return same and do["traced"] == 1 and dont["traced"] == 2
