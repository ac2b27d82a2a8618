"""Write a long loop with `fori_loop`: a Python loop is copied into the program turn by turn."""

FRAMEWORK = "jax"
MEASURES = "equations"
GRID = {"turns": (5, 50, 200)}
SYMPTOM = "the first call takes long, and longer with more turns"
MECHANISM = """
A Python loop runs while JAX traces, so every turn adds its operations to the program, which then
takes the longer to compile. `fori_loop` traces its body once, whatever the number of turns.
"""
EXCEPTION = """
A loop of a few turns may as well be unrolled: it adds little to the program, the compiler sees all
of it, and each turn may have shapes of its own.
"""
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html",)
ARTICLES = (
    {
        "article": "002",
        "place": "Use JAX control flow primitives, not Python",
        "figure": "20 minutes to compile",
    },
)


def do(turns):
    """Iterate many times in one loop of the program."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def iterate(x):
        return jax.lax.fori_loop(0, turns, lambda _, value: value * 1.01 + jnp.sin(value), x)

    return iterate, (jnp.linspace(0.0, 1.0, 1000),)


def dont(turns):
    """Iterate many times in Python, while JAX traces."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def iterate(x):
        for _ in range(turns):
            x = x * 1.01 + jnp.sin(x)
        return x

    return iterate, (jnp.linspace(0.0, 1.0, 1000),)


TOLERANCE = 1e-3
