"""Static arguments avoid compiling again for every length."""

ARTICLE = {
    "article": "001",
    "place": "Compilation Overhead",
    "figure": "mitigate this with static arguments",
}
QUANTITY = "How often a function is traced for ten lengths, with the length as a static argument."
PROTOCOL = """
One process takes the mean of tanh over sequences of ten lengths, with the length as a static
argument, and counts the traces in the function's body.
"""
RULE = """
Confirmed where there are fewer traces than lengths; refuted where there are as many, or more.
"""
FACTS = ({"functions": ("lengths",)},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
A static argument adds to what a compiled program is kept by, so it can only cause more compiling.
What it allows is to use the value for a shape inside, which would else be an error.
"""


def lengths():
    """Call with ten lengths, each given as a static argument."""
    from functools import partial

    import jax
    import jax.numpy as jnp

    traces = []

    @partial(jax.jit, static_argnums=1)
    def mean(x, length):
        traces.append(length)
        return jnp.sum(jnp.tanh(x)) / length

    values = range(20, 120, 10)
    for length in values:
        mean(jnp.ones(length), length).block_until_ready()
    return {"n_lengths": len(values), "n_traces": len(traces)}


def judge(seen):
    """Decide by the rule."""
    lengths, traces = (seen.fact("lengths", name) for name in ("n_lengths", "n_traces"))
    return seen.holds(traces < lengths)
