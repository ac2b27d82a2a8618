"""Use `jax.numpy` on what is traced: NumPy needs values, and there are none yet."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "TracerArrayConversionError"
MECHANISM = """
A function of NumPy computes at once and needs the array's elements, which a traced array does not
have. The same function of `jax.numpy` records what is to be computed.
"""
EXCEPTION = """
On what is known while tracing, such as shapes, static arguments or constants, NumPy is right: its
result is computed once and is part of the program.
"""
DOCS = ("https://docs.jax.dev/en/latest/errors.html",)
STATED = "`jnp.linalg.norm` gives the norm; `np.linalg.norm` raises TracerArrayConversionError."


def do():
    """Normalise a vector by its norm from `jax.numpy`."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def normalised(x):
        return x / jnp.linalg.norm(x)

    return {"first": float(normalised(jnp.array([3.0, 4.0]))[0])}


def dont():
    """Normalise a vector by its norm from NumPy."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    @jax.jit
    def normalised(x):
        return x / np.linalg.norm(x)

    return {"first": float(normalised(jnp.array([3.0, 4.0]))[0])}


def holds(do, dont):
    """Say whether the one normalises, and the other raises an error."""
    return abs(do["first"] - 0.6) < 1e-6 and dont["raised"] == "TracerArrayConversionError"
