"""Only a review of the keys finds why random values are wrong."""

ARTICLE = {
    "article": "002",
    "place": "Detection cheat sheet: Wrong random values",
    "figure": "review PRNG key management",
}
QUANTITY = "Whether JAX itself reports a key that is used twice."
PROTOCOL = """
One process draws twice with one typed key, with `jax_debug_key_reuse` off and on, and then with two
keys and the setting on.
"""
RULE = """
Outdated where the setting makes the reuse an error and leaves the rest alone. Confirmed where
nothing reports it. Inconclusive otherwise.
"""
FACTS = ({"functions": ("drawn",)},)
DOCS = ("https://docs.jax.dev/en/latest/jax.experimental.key_reuse.html",)


def drawn():
    """Draw with a reused key and with two."""
    import jax

    def error_of(first, second):
        try:
            jax.random.normal(first, (4,))
            jax.random.normal(second, (4,))
        except jax.errors.KeyReuseError as error:
            return type(error).__name__
        return None

    without = error_of(*[jax.random.key(0)] * 2)
    jax.config.update("jax_debug_key_reuse", True)
    reused = error_of(*[jax.random.key(1)] * 2)
    split = error_of(*jax.random.split(jax.random.key(2)))
    return {"without_setting": without, "reused": reused, "split": split}


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("drawn")
    if shown["reused"] is None:
        return "confirmed"
    return "outdated" if shown["split"] is None else "inconclusive"
