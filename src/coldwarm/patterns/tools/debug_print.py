"""Print from compiled code with `jax.debug.print`: Python's `print` runs while JAX traces."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "the output says `JitTracer(float32[])` or `Traced<ShapedArray…>`, and only once"
MECHANISM = """
The Python code of a compiled function runs when it is traced, with placeholders that have a shape
and no values, and is not run again. `jax.debug.print` is part of the program and prints at every
call.
"""
EXCEPTION = """
`print` is right for what is known while tracing, such as shapes and types, and to see when a
function is traced. A program with `jax.debug.print` is not kept in the persistent cache.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/debugging/print_breakpoint.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.debug.print.html",
)
ARTICLES = (
    {"article": "002", "place": "Runtime debugging in JIT functions"},
    {"article": "002", "place": "Detection cheat sheet", "figure": "tracers in output"},
)
STATED = """Of three calls, `jax.debug.print` prints three values, and `print` one placeholder."""


def do():
    """Print in three calls with JAX's own print."""
    import contextlib
    import io

    import jax

    @jax.jit
    def double(x):
        y = 2 * x
        jax.debug.print("y = {y}", y=y)
        return y

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for value in (1.0, 2.0, 3.0):
            double(value).block_until_ready()
        jax.effects_barrier()
    lines = printed.getvalue().splitlines()
    return {"lines": len(lines), "last": lines[-1] if lines else ""}


def dont():
    """Print in three calls with Python's print."""
    import contextlib
    import io

    import jax

    @jax.jit
    def double(x):
        y = 2 * x
        print(f"y = {y}")  # noqa: T201
        return y

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for value in (1.0, 2.0, 3.0):
            double(value).block_until_ready()
    lines = printed.getvalue().splitlines()
    return {"lines": len(lines), "last": lines[-1] if lines else ""}


def holds(do, dont):
    """Say whether values were printed at every call by one, and a placeholder by the other."""
    placeholder = "Trace" in dont["last"]  # Traced<…> up to 0.6, JitTracer(…) since
    return do["lines"] == 3 and do["last"] == "y = 6.0" and dont["lines"] == 1 and placeholder
