"""Set the folder of the compilation cache before the first operation: a later change is ignored."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "the folder of the compilation cache stays empty"
MECHANISM = """
JAX opens the compilation cache when it compiles for the first time, and every operation on arrays
compiles, also without `jit`. Another folder that is set afterwards is taken without a word, and
nothing is read from it or written to it.
"""
EXCEPTION = """
A program that had no folder when it first compiled can still be given one.
"""
DOCS = ("https://docs.jax.dev/en/latest/persistent_compilation_cache.html",)
STATED = "The program is kept in the second folder where nothing was compiled before it was set, \
and is not where something was."


def do():
    """Change the folder before anything is compiled."""
    import tempfile
    from pathlib import Path

    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(x):
        return jnp.tanh(x) * 2

    jax.config.update("jax_enable_compilation_cache", True)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        jax.config.update("jax_compilation_cache_dir", first)
        jax.config.update("jax_compilation_cache_dir", second)
        x = jnp.ones(8)
        step(x).block_until_ready()
        return {"programs_kept": len(list(Path(second).glob("jit_step-*-cache")))}


def dont():
    """Change the folder after an array was made."""
    import tempfile
    from pathlib import Path

    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(x):
        return jnp.tanh(x) * 2

    jax.config.update("jax_enable_compilation_cache", True)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        jax.config.update("jax_compilation_cache_dir", first)
        x = jnp.ones(8)
        jax.config.update("jax_compilation_cache_dir", second)
        step(x).block_until_ready()
        return {"programs_kept": len(list(Path(second).glob("jit_step-*-cache")))}


def holds(do, dont):
    """Say whether the later change alone was ignored."""
    return do["programs_kept"] == 1 and dont["programs_kept"] == 0
