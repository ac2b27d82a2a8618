"""Split the key in every step of training: else dropout leaves out the same units for ever."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "the loss stays where it is after a few epochs, without an error"
MECHANISM = """
A step that gets the key of the step before draws its mask of dropout from the same bits. The same
units are left out in every step, so part of the network is never trained.
"""
EXCEPTION = """
Evaluations may share one key, so that models are compared on the same noise.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/random-numbers.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.random.split.html",
)
ARTICLES = (
    {"article": "001", "place": "Random Number Generation", "figure": "identical masks"},
    {
        "article": "002",
        "place": "Quick reference: The 10 commandments of JAX performance",
        "figure": "rule 5",
    },
)
STATED = """Twenty steps have twenty masks when the key is split, and one when it is not: the units
that it leaves out are then never trained."""


def do():
    """Train 20 steps, splitting the key in each."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(w, key):
        mask = jax.random.bernoulli(key, 0.5, w.shape)
        return w - 0.1 * jax.grad(lambda w: jnp.sum((mask * w - 1.0) ** 2))(w), mask

    key = jax.random.key(0)
    w, masks = jnp.zeros(64), set()
    for _ in range(20):
        key, step_key = jax.random.split(key)
        w, mask = step(w, step_key)
        masks.add(bytes(jax.device_get(mask)))
    return {"masks": len(masks), "never_trained": int((w == 0).sum())}


def dont():
    """Train 20 steps with one key."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(w, key):
        mask = jax.random.bernoulli(key, 0.5, w.shape)
        return w - 0.1 * jax.grad(lambda w: jnp.sum((mask * w - 1.0) ** 2))(w), mask

    key = jax.random.key(0)
    w, masks = jnp.zeros(64), set()
    for _ in range(20):
        w, mask = step(w, key)
        masks.add(bytes(jax.device_get(mask)))
    return {"masks": len(masks), "never_trained": int((w == 0).sum())}


def holds(do, dont):
    """Say whether masks change only with the key, and units are forgotten otherwise."""
    splits = do["masks"] == 20 and do["never_trained"] == 0
    return splits and dont["masks"] == 1 and dont["never_trained"] > 10
