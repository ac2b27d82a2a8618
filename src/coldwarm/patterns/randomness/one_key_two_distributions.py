"""Give each distribution a key of its own: numbers drawn with one key move together."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "random quantities that should be independent are correlated"
MECHANISM = """
Most samplers turn the same random bits of a key into the numbers of their distribution. So a large
uniform number comes with a large normal one, in an order that is exactly the same.
"""
EXCEPTION = """
Where the coupling is wanted, as for common random numbers in a comparison of two distributions.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/random-numbers.html",
    "https://docs.jax.dev/en/latest/jax.experimental.key_reuse.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Always split keys—never reuse",
        "figure": "may be correlated",
    },
)
STATED = """The correlation of a uniform and a normal sample is above 0.9 with one key, and below
0.1 with split keys."""


def do():
    """Draw a uniform and a normal sample with two keys."""
    import jax
    import jax.numpy as jnp

    uniform_key, normal_key = jax.random.split(jax.random.key(42))
    uniform = jax.random.uniform(uniform_key, (10_000,))
    normal = jax.random.normal(normal_key, (10_000,))
    same_order = (jnp.argsort(uniform) == jnp.argsort(normal)).mean()
    return {
        "correlation": float(jnp.corrcoef(uniform, normal)[0, 1]),
        "same_order_share": float(same_order),
    }


def dont():
    """Draw a uniform and a normal sample with one key."""
    import jax
    import jax.numpy as jnp

    key = jax.random.key(42)
    uniform = jax.random.uniform(key, (10_000,))
    normal = jax.random.normal(key, (10_000,))
    same_order = (jnp.argsort(uniform) == jnp.argsort(normal)).mean()
    return {
        "correlation": float(jnp.corrcoef(uniform, normal)[0, 1]),
        "same_order_share": float(same_order),
    }


def holds(do, dont):
    """Say whether only the samples of one key are correlated."""
    return abs(do["correlation"]) < 0.1 and abs(dont["correlation"]) > 0.9
