"""Ask for 64 bits at the start of a program: by default JAX has 32, and warns at most."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "results differ from NumPy's from the seventh digit on"
MECHANISM = """
JAX has 32-bit numbers unless `jax_enable_x64` is set before its first array is made. NumPy's arrays
of 64 bits are cut to 32 without a word when they come in, and a `dtype` of 64 bits is only warned
about.
"""
EXCEPTION = """
For neural networks 32 bits are plenty, and 64 cost twice the memory, and far more time on most
GPUs.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/default_dtypes.html",
    "https://docs.jax.dev/en/latest/type_promotion.html",
)
STATED = "With 64 bits asked for, 1 + 1e-9 stays more than 1; without, a float64 array of NumPy \
becomes float32 and the difference is gone."


def do():
    """Ask for 64 bits, and add a small number to one."""
    import jax

    jax.config.update("jax_enable_x64", True)

    import jax.numpy as jnp
    import numpy as np

    given = np.array([1.0 + 1e-9])
    taken = jnp.asarray(given)
    return {"given": str(given.dtype), "taken": str(taken.dtype), "excess": float(taken[0] - 1.0)}


def dont():
    """Leave JAX as it is, and add a small number to one."""
    import jax.numpy as jnp
    import numpy as np

    given = np.array([1.0 + 1e-9])
    taken = jnp.asarray(given)
    return {"given": str(given.dtype), "taken": str(taken.dtype), "excess": float(taken[0] - 1.0)}


def holds(do, dont):
    """Say whether 64 bits are kept where they are asked for, and lost otherwise."""
    kept = do["taken"] == "float64" and abs(do["excess"] - 1e-9) < 1e-12
    return kept and dont["taken"] == "float32" and dont["excess"] == 0.0
