"""Checkpoint the body of a `scan` over layers: else every turn stores all of its values."""

FRAMEWORK = "jax"
MEASURES = "peak_rss_bytes"
SECONDS = 60.0
GRID = {"layers": (3, 12, 36)}
SYMPTOM = "memory for a gradient grows with the number of layers, times the values in each"
MECHANISM = """
The gradient of a `scan` stacks up whatever its body computed in every turn. With a body that is
checkpointed it stacks the carry alone, and computes the inside of one turn again when it is due.
"""
EXCEPTION = """
Few turns, or a body with little inside, save little memory. The second forward pass costs time,
unless storing and reading again what it computes would take longer. What is compared here is the
size of whole processes, in which a few turns do not show beside the framework itself.
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


def do(layers):
    """Take the gradient through a scan over layers with a checkpointed body."""
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

    weights = np.random.default_rng(0).normal(0, 1 / 32, (layers, 32, 32)).astype("float32")
    return gradient, (weights, np.ones((16_384, 32), dtype="float32"))


def dont(layers):
    """Take the gradient through a scan over layers."""
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

    weights = np.random.default_rng(0).normal(0, 1 / 32, (layers, 32, 32)).astype("float32")
    return gradient, (weights, np.ones((16_384, 32), dtype="float32"))
