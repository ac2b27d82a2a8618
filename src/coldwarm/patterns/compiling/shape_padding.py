"""Pad batches of changing length to one shape, with a mask."""

FRAMEWORK = "jax"
MEASURES = "first_call_s"
SYMPTOM = "calls with new lengths are slow"
MECHANISM = """
A compiled program is for one set of shapes, so each length that has not been seen before is traced
and compiled. Padded to the greatest length, all have one shape, and a mask keeps the padding out of
the result; the padding is done in NumPy, since in JAX it would be a program for each length too.
"""
EXCEPTION = """
Where lengths differ by much, most of the work is on padding: then a few sizes of buckets are
better. A length that never changes needs none. And where the same few lengths come again and again,
all are compiled after a while, and only the padding remains to be paid for.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/201/jit.html#jit-and-caching",
    "https://docs.jax.dev/en/latest/debugging/slow_tracing_compilation.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Quick reference: The 10 commandments of JAX performance",
        "figure": "",
    },
    {"article": "001", "place": "Compilation Overhead", "figure": "recompiles for a new shape"},
)
TOLERANCE = 1e-4
SECONDS = 22.0
GRID = {"lengths": (2, 5, 20)}


def do(lengths):
    """Average batches of several lengths, padded to the longest."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    @jax.jit
    def mean(x, length):
        mask = jnp.arange(x.shape[0]) < length
        return jnp.sum(jnp.where(mask, jnp.tanh(x), 0.0)) / length

    batches = [np.linspace(0.0, 1.0, 40 + 3 * n, dtype=np.float32) for n in range(lengths)]
    longest = len(batches[-1])

    def run():
        padded = [np.pad(one, (0, longest - len(one))) for one in batches]
        return [mean(x, len(one)) for x, one in zip(padded, batches, strict=True)]

    return run, ()


def dont(lengths):
    """Average batches of several lengths as they are."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    @jax.jit
    def mean(x):
        return jnp.mean(jnp.tanh(x))

    batches = [np.linspace(0.0, 1.0, 40 + 3 * n, dtype=np.float32) for n in range(lengths)]

    def run():
        return [mean(one) for one in batches]

    return run, ()
