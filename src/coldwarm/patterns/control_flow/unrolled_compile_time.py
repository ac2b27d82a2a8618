"""Long Python loops take long to compile; `fori_loop` takes as long for any number of turns."""

FRAMEWORK = "jax"
MEASURES = "first_call_s"
SYMPTOM = "the first call takes long, and longer with more turns"
MECHANISM = """
A Python loop is unrolled while JAX traces, and every copy of its body is traced, lowered and
optimised, so that the first call grows with the turns. The body of `fori_loop` goes through the
compiler once.
"""
EXCEPTION = """
A loop of a few turns compiles about as fast unrolled. Unrolled, the compiler sees several turns at
once, which may make the program faster or slower; `unroll=` of `fori_loop` and `scan` gives a
bounded part of that.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html",
    "https://docs.jax.dev/en/latest/debugging/slow_tracing_compilation.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Use JAX control flow primitives, not Python",
        "figure": "20 minutes to compile",
    },
)
TOLERANCE = 1e-3
SECONDS = 22.0
GRID = {"turns": (5, 20, 100, 400)}


def do(turns):
    """Iterate many times in one loop of the program."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def iterate(x, w):
        return jax.lax.fori_loop(0, turns, lambda _, value: value + 0.01 * jnp.sin(w * value), x)

    return iterate, (jnp.linspace(0.0, 1.0, 100), jnp.float32(0.5))


def dont(turns):
    """Iterate many times in Python, while JAX traces."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def iterate(x, w):
        for _ in range(turns):
            x = x + 0.01 * jnp.sin(w * x)
        return x

    return iterate, (jnp.linspace(0.0, 1.0, 100), jnp.float32(0.5))
