"""A key that is not split gives the same dropout mask in every step, and no error says so."""

ARTICLE = {
    "article": "001",
    "place": "Random Number Generation",
    "figure": "identical dropout masks every step",
}
QUANTITY = "How many different dropout masks there are in ten steps, and what was said about it."
PROTOCOL = """
One process draws the mask of a jitted step ten times with one key, then with keys by `fold_in`,
with all warnings recorded.
"""
RULE = """
Confirmed where one key gives one mask in ten steps without an error or a warning, and ten keys give
ten. Refuted otherwise.
"""
FACTS = ({"functions": ("masks",)},)
DOCS = ("https://docs.jax.dev/en/latest/random-numbers.html",)
NOTE = "`jax.config.update('jax_debug_key_reuse', True)` makes it an error, where keys are typed."


def masks():
    """Draw masks with one key, and with ten."""
    import warnings

    import jax
    import numpy as np

    @jax.jit
    def mask(key):
        return jax.random.bernoulli(key, 0.5, (256,))

    key = jax.random.key(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reused = {np.asarray(mask(key)).tobytes() for _ in range(10)}
        split = {np.asarray(mask(jax.random.fold_in(key, n))).tobytes() for n in range(10)}
    return {"reused": len(reused), "split": len(split), "warnings": len(caught)}


def judge(seen):
    """Decide by the rule."""
    names = ("reused", "split", "warnings")
    return seen.holds([seen.fact("masks", name) for name in names] == [1, 10, 0])
