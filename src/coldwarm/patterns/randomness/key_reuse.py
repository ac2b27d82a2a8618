"""Split a key for every use: the same key gives the same numbers."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "random numbers repeat"
MECHANISM = """
A key is the whole state of JAX's generator, and drawing from it changes nothing. So two draws with
one key are the same numbers; only `split` or `fold_in` give keys whose numbers are independent.
"""
EXCEPTION = """
The same numbers may be wanted, as when two variants of a model are compared on the same noise.
"""
DOCS = ("https://docs.jax.dev/en/latest/random-numbers.html",)
ARTICLES = (
    {"article": "002", "place": "Always split keys—never reuse", "figure": "the same samples"},
)
STATED = "Two draws are equal with one key, and differ with split keys."


def do():
    """Draw twice, each time with a key of its own."""
    import jax

    key = jax.random.key(42)
    first_key, second_key = jax.random.split(key)
    first = jax.random.normal(first_key, (100,))
    second = jax.random.normal(second_key, (100,))
    return {"equal": bool((first == second).all())}


def dont():
    """Draw twice with one key."""
    import jax

    key = jax.random.key(42)
    first = jax.random.normal(key, (100,))
    second = jax.random.normal(key, (100,))
    return {"equal": bool((first == second).all())}


def holds(do, dont):
    """Say whether the draws of one key are equal, and those of two are not."""
    return dont["equal"] and not do["equal"]
