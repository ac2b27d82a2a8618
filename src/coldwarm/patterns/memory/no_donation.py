"""Donate buffers that a step replaces: else the old and the new state are in memory together."""

FRAMEWORK = "jax"
MEASURES = "peak_rss_bytes"
SECONDS = 60.0
GRID = {"megabytes": (1, 10, 50, 200)}
SYMPTOM = "memory use is twice the size of the state"
MECHANISM = """
Arguments of a compiled function stay untouched, so its results need new memory while the old is
still there. A donated argument may be overwritten: XLA writes the new state where the old one was.
"""
EXCEPTION = """
State that is needed after the step must not be donated, such as parameters that are compared with
their update. Small state saves nothing worth the risk. What is compared here is the size of whole
processes, in which a state shows only where it is not small beside the framework itself.
"""
DOCS = ("https://docs.jax.dev/en/latest/buffer_donation.html",)
ARTICLES = (
    {
        "article": "002",
        "place": "Buffer donation for in-place-style updates",
        "figure": "up to 50 %",
        "low": 1.0,
        "high": 2.0,
    },
    {
        "article": "002",
        "place": "Hardware-specific considerations",
        "figure": "limited benefit on a CPU",
    },
    {
        "article": "002",
        "place": "Quick reference: The 10 commandments of JAX performance",
        "figure": "rule 6",
    },
)


def do(megabytes):
    """Update a state three times in place."""
    import jax
    import jax.numpy as jnp

    def update(state):
        return 0.5 * state + 1.0

    step = jax.jit(update, donate_argnums=0)

    def train(start):
        state = jnp.full(250_000 * megabytes, start, dtype="float32")
        for _ in range(3):
            state = step(state)
        return state[:8]

    return train, (3.0,)


def dont(megabytes):
    """Update a state three times, each time into new memory."""
    import jax
    import jax.numpy as jnp

    def update(state):
        return 0.5 * state + 1.0

    step = jax.jit(update)

    def train(start):
        state = jnp.full(250_000 * megabytes, start, dtype="float32")
        for _ in range(3):
            state = step(state)
        return state[:8]

    return train, (3.0,)
