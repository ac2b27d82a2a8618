"""Make an argument static that decides on structure and has few values."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "an error about a traced value that is used as a Python number"
MECHANISM = """
A static argument is an ordinary Python value while JAX traces, so it may set the number of layers;
each of its values is compiled once and kept. An ordinary argument has no value at that time, so
that Python cannot count by it.
"""
EXCEPTION = """
A number of turns that varies freely is better an ordinary argument of `fori_loop`: it has one
program for all numbers.
"""
DOCS = ("https://docs.jax.dev/en/latest/201/jit.html#marking-arguments-as-static",)
ARTICLES = (
    {
        "article": "002",
        "place": "Avoiding recompilation with static arguments",
        "figure": "",
    },
)
STATED = "With a static number of layers, nine calls with three numbers are traced three times; \
without, the first call raises an error."


def do():
    """Apply a number of layers that is static."""
    import jax
    import jax.numpy as jnp

    traced = []

    @jax.jit(static_argnames="n_layers")
    def forward(w, x, n_layers):
        traced.append(n_layers)
        for _ in range(n_layers):
            x = jnp.tanh(x @ w)
        return x

    w, x = jnp.eye(8), jnp.ones((4, 8))
    for n_layers in (2, 4, 6) * 3:
        forward(w, x, n_layers=n_layers).block_until_ready()
    return {"calls": 9, "traced": len(traced)}


def dont():
    """Apply a number of layers that is traced."""
    import jax
    import jax.numpy as jnp

    traced = []

    @jax.jit
    def forward(w, x, n_layers):
        traced.append(n_layers)
        for _ in range(n_layers):
            x = jnp.tanh(x @ w)
        return x

    w, x = jnp.eye(8), jnp.ones((4, 8))
    for n_layers in (2, 4, 6) * 3:
        forward(w, x, n_layers).block_until_ready()
    return {"calls": 9, "traced": len(traced)}


def holds(do, dont):
    """Say whether three values are three traces, and a traced number cannot be counted by."""
    return do["traced"] == 3 and dont["raised"] == "TracerIntegerConversionError"
