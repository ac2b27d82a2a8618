"""Derive a step's key from its number, not from a constant: `fold_in`, not `key(0)`."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "every batch has the same noise"
MECHANISM = """
A key that is made of a constant inside the step is the same key in every step. `fold_in` makes a
new key of one key and a number, so that steps need not hand a key on to each other.
"""
EXCEPTION = """
A test that must see the same numbers each time makes its key of a constant, and so does a program,
once.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.random.fold_in.html",
    "https://docs.jax.dev/en/latest/random-numbers.html",
)
ARTICLES = (
    {
        "article": "001",
        "place": "Random Number Generation",
        "figure": "the same random numbers every iteration",
    },
)
STATED = """The noise of twenty steps has twenty values with `fold_in`, and one with a constant; the
mean over the steps has the noise of one step there."""


def do():
    """Add the noise of 20 steps, their keys made of the step's number."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def noise(key, number):
        return jax.random.normal(jax.random.fold_in(key, number), (1000,))

    key = jax.random.key(0)
    steps = jnp.stack([noise(key, number) for number in range(20)])
    return {
        "distinct": len({float(one[0]) for one in steps}),
        "spread_of_mean": float(steps.mean(axis=0).std()),
    }


def dont():
    """Add the noise of 20 steps, their keys made of a constant."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def noise():
        return jax.random.normal(jax.random.key(0), (1000,))

    steps = jnp.stack([noise() for _ in range(20)])
    return {
        "distinct": len({float(one[0]) for one in steps}),
        "spread_of_mean": float(steps.mean(axis=0).std()),
    }


def holds(do, dont):
    """Say whether noise averages out only where each step has a key of its own."""
    averages_out = do["distinct"] == 20 and do["spread_of_mean"] < 0.3
    return averages_out and dont["distinct"] == 1 and dont["spread_of_mean"] > 0.9
