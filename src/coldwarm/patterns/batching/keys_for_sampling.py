"""Split one key into many, and map the sampling over them."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
SYMPTOM = "drawing samples takes a loop"
MECHANISM = """
`split(key, n)` gives an array of keys, over which `vmap` maps like over any other. The samples are
those that a loop over the same keys draws, in one program instead of one for each: the loop's time
grows with the number of keys, that of the one program only with the numbers that are drawn.
"""
EXCEPTION = """
Where all samples have one distribution and may share a key, one draw of the whole shape is simpler
still.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/jax.random.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html",
)
ARTICLES = ({"article": "002", "place": "Always split keys—never reuse", "figure": ""},)
SECONDS = 20.0
GRID = {"samples": (8, 32, 128, 512)}


def do(samples):
    """Draw for many keys in one program."""
    import jax

    def walk(key):
        return jax.random.normal(key, (50,)).cumsum()

    walks = jax.jit(jax.vmap(walk))
    return walks, (jax.random.split(jax.random.key(42), samples),)


def dont(samples):
    """Draw for many keys in a loop."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def walk(key):
        return jax.random.normal(key, (50,)).cumsum()

    def walks(keys):
        return jnp.stack([walk(key) for key in keys])

    return walks, (jax.random.split(jax.random.key(42), samples),)


TOLERANCE = 1e-5
