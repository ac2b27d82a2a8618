"""Give a bound that varies to `fori_loop`: Python cannot count to a traced number."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "TracerIntegerConversionError"
MECHANISM = """
`range` needs a number, and a traced argument has none yet. `fori_loop` with a traced bound becomes
a loop of the program itself, which reads the bound when it runs: one program for all bounds.
"""
EXCEPTION = """
With a traced bound there is no gradient in reverse mode, since nobody knows how much to keep; there
the bound has to be static, or the loop runs to a fixed maximum with a mask.
"""
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html",)
ARTICLES = (
    {
        "article": "002",
        "place": "Use JAX control flow primitives, not Python",
        "figure": "unrolls or fails",
    },
)
STATED = "`fori_loop` sums the first 3, 5 and 7 numbers from one trace; `range` raises \
TracerIntegerConversionError."


def do():
    """Sum the first numbers of an array, in a loop of the program."""
    import jax
    import jax.numpy as jnp

    traced = []

    @jax.jit
    def total(values, n):
        traced.append(1)
        return jax.lax.fori_loop(0, n, lambda i, so_far: so_far + values[i], 0.0)

    values = jnp.arange(10.0)
    found = [float(total(values, n)) for n in (3, 5, 7)]
    return {"of_3": found[0], "of_5": found[1], "of_7": found[2], "traced": len(traced)}


def dont():
    """Sum the first numbers of an array, in a loop of Python's."""
    import jax
    import jax.numpy as jnp

    traced = []

    @jax.jit
    def total(values, n):
        traced.append(1)
        so_far = 0.0
        for i in range(n):
            so_far += values[i]
        return so_far

    values = jnp.arange(10.0)
    found = [float(total(values, n)) for n in (3, 5, 7)]
    return {"of_3": found[0], "of_5": found[1], "of_7": found[2], "traced": len(traced)}


def holds(do, dont):
    """Say whether `fori_loop` sums from one trace, and `range` raises an error."""
    right = (do["of_3"], do["of_5"], do["of_7"]) == (3.0, 10.0, 21.0)
    return right and do["traced"] == 1 and dont["raised"] == "TracerIntegerConversionError"
