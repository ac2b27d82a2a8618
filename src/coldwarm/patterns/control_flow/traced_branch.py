"""Branch on a value inside of `jit` with `cond`, or choose with `where`."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "TracerBoolConversionError"
MECHANISM = """
While JAX traces, an array has a shape and a type and no value, so Python's `if` has nothing to
decide by. `cond` puts both branches into the program, and one of them runs.
"""
EXCEPTION = """
An `if` on what is known while tracing, such as a shape, a type or a static argument, is right, and
leaves the other branch out of the program.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html",
    "https://docs.jax.dev/en/latest/errors.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Use JAX control flow primitives, not Python",
        "figure": "TracerBoolConversionError",
    },
    {"article": "002", "place": "Detection cheat sheet", "figure": ""},
    {
        "article": "001",
        "place": "Functional Purity as a Compiler Hint",
        "figure": "re-traces every time the branch changes",
    },
)
STATED = "`cond` is traced once and gives both results; `if` raises TracerBoolConversionError."


def do():
    """Divide, where the divisor is not zero, in a branch of the program."""
    import jax
    import jax.numpy as jnp

    traced = []

    @jax.jit
    def divided(x, y):
        traced.append(1)
        return jax.lax.cond(y != 0, lambda: x / y, lambda: jnp.zeros_like(x))

    x = jnp.float32(6.0)
    found = [float(divided(x, jnp.float32(y))) for y in (2.0, 0.0, 3.0)]
    return {"by_2": found[0], "by_0": found[1], "by_3": found[2], "traced": len(traced)}


def dont():
    """Divide, where the divisor is not zero, in a branch of Python's."""
    import jax
    import jax.numpy as jnp

    traced = []

    @jax.jit
    def divided(x, y):
        traced.append(1)
        if y != 0:
            return x / y
        return jnp.zeros_like(x)

    x = jnp.float32(6.0)
    found = [float(divided(x, jnp.float32(y))) for y in (2.0, 0.0, 3.0)]
    return {"by_2": found[0], "by_0": found[1], "by_3": found[2], "traced": len(traced)}


def holds(do, dont):
    """Say whether `cond` gives both results from one trace, and `if` an error."""
    right = (do["by_2"], do["by_0"], do["by_3"]) == (3.0, 0.0, 2.0)
    return right and do["traced"] == 1 and dont["raised"] == "TracerBoolConversionError"
