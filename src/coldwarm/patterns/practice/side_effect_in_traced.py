"""Return what a compiled function finds out: its side effects happen once, while it is traced."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "a counter or a list stays as it was after the first call"
MECHANISM = """
The body of a jitted function runs while JAX traces it, and not when the compiled program does. What
it appends or counts in Python happens then, once for each set of shapes, with traced values.
"""
EXCEPTION = """
To count how often a function is traced, a side effect is what is wanted. For one on each call there
are `jax.debug.callback` and `io_callback`.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/201/jit.html",
    "https://docs.jax.dev/en/latest/external-callbacks.html",
)
STATED = "Three calls count to three where the count is returned, and to one where it is changed \
inside."


def do():
    """Count calls in a value that is taken and returned."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def doubled(x, count):
        return x * 2, count + 1

    count = jnp.int32(0)
    for _ in range(3):
        _, count = doubled(jnp.ones(3), count)
    return {"counted": int(count)}


def dont():
    """Count calls in a variable outside."""
    import jax
    import jax.numpy as jnp

    count = 0

    @jax.jit
    def doubled(x):
        nonlocal count
        count += 1
        return x * 2

    for _ in range(3):
        doubled(jnp.ones(3))
    return {"counted": count}


def holds(do, dont):
    """Say whether the returned count is right, and the other that of the traces."""
    return do["counted"] == 3 and dont["counted"] == 1
