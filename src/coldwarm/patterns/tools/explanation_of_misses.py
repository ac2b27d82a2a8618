"""Ask for an explanation of cache misses: the log of compiles says that, not why."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "a function is compiled again, and its arguments look the same"
MECHANISM = """
JAX compiles again when anything differs that belongs to the key of its cache, down to whether a
number's type was given or is Python's. `jax_explain_cache_misses` compares the new key with the
nearest one it has, and names the argument, the difference and the line of the call.
"""
EXCEPTION = """
It explains tracing. A compile without a new trace, such as for an argument that was moved to
another device, is not explained.
"""
DOCS = ("https://docs.jax.dev/en/latest/debugging/slow_tracing_compilation.html",)
ARTICLES = ({"article": "002", "place": "Essential configuration flags"},)
STATED = """The explanation names the argument whose type has flipped from weak to strong; the log
of compiles does not name it."""


def do():
    """Call a function with a Python number and with an array, and let the miss be explained."""
    import logging

    import jax
    import jax.numpy as jnp

    entries = []

    class Keep(logging.Handler):
        def emit(self, record):
            entries.append(record.getMessage())

    logger = logging.getLogger("jax")
    logger.addHandler(Keep(logging.WARNING))
    logger.propagate = False

    @jax.jit
    def scale(values, learning_rate):
        return values * learning_rate

    values = jnp.ones(8)
    scale(values, 0.1)
    with jax.explain_cache_misses():
        scale(values, jnp.float32(0.1))
    log = "\n".join(entries)
    return {"names_argument": "learning_rate" in log, "names_reason": "weak_type" in log}


def dont():
    """Call a function with a Python number and with an array under the log of compiles."""
    import logging

    import jax
    import jax.numpy as jnp

    entries = []

    class Keep(logging.Handler):
        def emit(self, record):
            entries.append(record.getMessage())

    logger = logging.getLogger("jax")
    logger.addHandler(Keep(logging.WARNING))
    logger.propagate = False

    @jax.jit
    def scale(values, learning_rate):
        return values * learning_rate

    values = jnp.ones(8)
    scale(values, 0.1)
    with jax.log_compiles():
        scale(values, jnp.float32(0.1))
    log = "\n".join(entries)
    return {
        "names_argument": "learning_rate" in log,
        "names_reason": "differ" in log,
        "told_of_compile": "Compiling jit(scale)" in log,
    }


def holds(do, dont):
    """Say whether only the explanation names the argument and the reason."""
    explained = do["names_argument"] and do["names_reason"]
    return explained and not dont["names_argument"] and not dont["names_reason"]
