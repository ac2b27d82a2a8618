"""Checkpoint the blocks of a deep network: else every value inside them waits for the gradient."""

FRAMEWORK = "jax"
MEASURES = "peak_rss_bytes"
SECONDS = 60.0
GRID = {"blocks": (2, 8, 24)}
SYMPTOM = "memory runs out in the backward pass"
MECHANISM = """
A gradient needs the values that were computed inside each block, and keeps them all until the
backward pass comes to it. `jax.checkpoint` keeps only what goes into a block and computes the rest
again, one block at a time.
"""
EXCEPTION = """
What fits into memory is mostly faster without: everything inside a block is computed twice. On a
CPU it depends on the version whether this form saves anything: where XLA's default scheduler
repeats the blocks early, their values wait for the gradient as before. There it saves with the
compiler option `xla_cpu_scheduler_type` at `CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED`, and a `scan` over
the blocks saves with the default.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/gradient-checkpointing.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint.html",
    "https://github.com/jax-ml/jax/issues/27748",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Gradient checkpointing for deep networks",
        "figure": "90 % less memory at 20–30 % more compute",
        "low": 10.0,
    },
    {
        "article": "002",
        "place": "Quick reference: The 10 commandments of JAX performance",
        "figure": "rule 7",
    },
)
TOLERANCE = 1e-3


def do(blocks):
    """Take the gradient through blocks that are computed again."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    @jax.checkpoint
    def block(w, x):
        for _ in range(4):
            x = jnp.tanh(x @ w) + x
        return x

    @jax.jit
    @jax.grad
    def gradient(weights, x):
        for w in weights:
            x = block(w, x)
        return jnp.mean(x**2)

    weights = list(np.random.default_rng(0).normal(0, 1 / 32, (blocks, 32, 32)).astype("float32"))
    return gradient, (weights, np.ones((16_384, 32), dtype="float32"))


def dont(blocks):
    """Take the gradient through blocks that keep all their values."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def block(w, x):
        for _ in range(4):
            x = jnp.tanh(x @ w) + x
        return x

    @jax.jit
    @jax.grad
    def gradient(weights, x):
        for w in weights:
            x = block(w, x)
        return jnp.mean(x**2)

    weights = list(np.random.default_rng(0).normal(0, 1 / 32, (blocks, 32, 32)).astype("float32"))
    return gradient, (weights, np.ones((16_384, 32), dtype="float32"))
