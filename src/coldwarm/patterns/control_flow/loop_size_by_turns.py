"""The program of a `fori_loop` has one size; that of a Python loop grows with its turns."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "the first call takes long, and longer with more turns"
MECHANISM = """
Each turn of a Python loop adds the equations of its body to what is compiled. `fori_loop` holds the
body once, with the number of turns beside it.
"""
EXCEPTION = """
For a handful of turns the difference is small.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html",
    "https://docs.jax.dev/en/latest/debugging/slow_tracing_compilation.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Use JAX control flow primitives, not Python",
        "figure": "100,000 lines",
    },
)
STATED = "From 10 to 160 turns the program of `fori_loop` keeps its size, and that of a Python \
loop grows at least twelvefold."


def do():
    """Compile loops of 10, 40 and 160 turns with `fori_loop`."""
    import time

    import jax
    import jax.numpy as jnp

    seen = {}
    for turns in (10, 40, 160):

        def iterate(x, turns=turns):
            return jax.lax.fori_loop(0, turns, lambda _, v: jnp.sin(v) * 1.01 + v, x)

        begin = time.perf_counter()
        compiled = jax.jit(iterate).lower(jnp.ones(100)).compile()
        seen[f"compile_{turns}_s"] = time.perf_counter() - begin
        seen[f"lines_{turns}"] = len(jax.jit(iterate).lower(jnp.ones(100)).as_text().splitlines())
        compiled(jnp.ones(100)).block_until_ready()
    return seen


def dont():
    """Compile loops of 10, 40 and 160 turns of Python's."""
    import time

    import jax
    import jax.numpy as jnp

    seen = {}
    for turns in (10, 40, 160):

        def iterate(x, turns=turns):
            for _ in range(turns):
                x = jnp.sin(x) * 1.01 + x
            return x

        begin = time.perf_counter()
        compiled = jax.jit(iterate).lower(jnp.ones(100)).compile()
        seen[f"compile_{turns}_s"] = time.perf_counter() - begin
        seen[f"lines_{turns}"] = len(jax.jit(iterate).lower(jnp.ones(100)).as_text().splitlines())
        compiled(jnp.ones(100)).block_until_ready()
    return seen


def holds(do, dont):
    """Say whether the one program keeps its size and the other grows with its turns."""
    return do["lines_10"] == do["lines_160"] and dont["lines_160"] >= 12 * dont["lines_10"]
