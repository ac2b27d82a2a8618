"""Checkpoint the body of a `scan` over layers: else every turn stores all of its values."""

FRAMEWORK = "jax"
MEASURES = "peak_rss_bytes"
SECONDS = 60.0
SYMPTOM = "memory for a gradient grows with the number of layers, times the values in each"
MECHANISM = """
The gradient of a `scan` stacks up whatever its body computed in every turn. With a body that is
checkpointed it stacks the carry alone, and computes the inside of one turn again when it is due.
"""
EXCEPTION = """
Few turns, or a body with little inside, save little memory and still cost a second forward pass.
What is compared here is the size of whole processes, which with JAX begins at some 200 MB.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/gradient-checkpointing.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Gradient checkpointing for deep networks",
        "figure": "90 % less memory",
        "low": 10.0,
    },
)
TOLERANCE = 1e-3


def do():
    """Take the gradient through a scan of 12 layers with a checkpointed body."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    @jax.checkpoint
    def layer(x, w):
        for _ in range(4):
            x = jnp.tanh(x @ w) + x
        return x, None

    @jax.jit
    @jax.grad
    def gradient(weights, x):
        x, _ = jax.lax.scan(layer, x, weights)
        return jnp.mean(x**2)

    weights = np.random.default_rng(0).normal(0, 1 / 32, (12, 32, 32)).astype("float32")
    return gradient, (weights, np.ones((16_384, 32), dtype="float32"))


def dont():
    """Take the gradient through a scan of 12 layers."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def layer(x, w):
        for _ in range(4):
            x = jnp.tanh(x @ w) + x
        return x, None

    @jax.jit
    @jax.grad
    def gradient(weights, x):
        x, _ = jax.lax.scan(layer, x, weights)
        return jnp.mean(x**2)

    weights = np.random.default_rng(0).normal(0, 1 / 32, (12, 32, 32)).astype("float32")
    return gradient, (weights, np.ones((16_384, 32), dtype="float32"))
