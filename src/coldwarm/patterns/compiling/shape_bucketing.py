"""Round changing lengths up to a few buckets: a program for each, and little padding."""

FRAMEWORK = "jax"
MEASURES = "first_call_s"
SYMPTOM = "calls with new lengths are slow"
MECHANISM = """
Rounded up to powers of two, lengths up to a thousand have ten shapes at most, and so ten programs.
At most half of each batch is padding, whereas one shape for all pads the shortest to the longest.
"""
EXCEPTION = """
With no more lengths than buckets, compiling each exactly is as few programs, and wastes nothing.
And what is compiled once pays for its padding on every later call.
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
)
TOLERANCE = 1e-4
SECONDS = 45.0
GRID = {"lengths": (2, 6, 12, 24)}


def do(lengths):
    """Average batches of several lengths in buckets of powers of two."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    @jax.jit
    def mean(x, length):
        mask = jnp.arange(x.shape[0]) < length
        return jnp.sum(jnp.where(mask, jnp.tanh(x), 0.0)) / length

    every = np.linspace(100, 1000, lengths).astype(int)
    batches = [np.linspace(0.0, 1.0, length, dtype=np.float32) for length in every]

    def run():
        found = []
        for one in batches:
            bucket = 1 << (len(one) - 1).bit_length()
            found.append(mean(np.pad(one, (0, bucket - len(one))), len(one)))
        return found

    return run, ()


def dont(lengths):
    """Average batches of several lengths as they are."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    @jax.jit
    def mean(x):
        return jnp.mean(jnp.tanh(x))

    every = np.linspace(100, 1000, lengths).astype(int)
    batches = [np.linspace(0.0, 1.0, length, dtype=np.float32) for length in every]

    def run():
        return [mean(one) for one in batches]

    return run, ()
