"""Padding to a fixed length avoids compiling again for every length."""

ARTICLE = {
    "article": "001",
    "place": "Compilation Overhead",
    "figure": "padding all batches to a fixed length",
}
QUANTITY = "How often a masked mean is traced for ten lengths, with and without padding."
PROTOCOL = """
One process takes the mean of tanh over sequences of ten lengths up to 128: each as it is, and each
padded to 128 with a mask. Traces are counted in the function's body, and the answers compared.
"""
RULE = """
Confirmed where the padded ones are traced once, the others ten times, and all answers agree to
1e-6. Refuted otherwise.
"""
FACTS = ({"functions": ("lengths",)},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)


def lengths():
    """Call with ten lengths, padded and not."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    traces = {"as_it_is": 0, "padded": 0}

    @jax.jit
    def as_it_is(x):
        traces["as_it_is"] += 1
        return jnp.mean(jnp.tanh(x))

    @jax.jit
    def padded(x, length):
        traces["padded"] += 1
        inside = jnp.arange(x.shape[0]) < length
        return jnp.sum(jnp.where(inside, jnp.tanh(x), 0)) / length

    differences = []
    for length in range(20, 120, 10):
        x = np.linspace(0, 1, length, dtype="float32")
        filled = np.pad(x, (0, 128 - length))
        differences.append(abs(float(as_it_is(x)) - float(padded(filled, length))))
    return {**traces, "difference": max(differences)}


def judge(seen):
    """Decide by the rule."""
    counts = [seen.fact("lengths", name) for name in ("padded", "as_it_is")]
    return seen.holds(counts == [1, 10] and seen.fact("lengths", "difference") <= 1e-6)
