"""Keep callbacks out of what is to be found in the compilation cache."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "one program compiles at every start, although the cache is set up"
MECHANISM = """
A program with a callback, as `jax.debug.print` makes one, holds the address of a Python function of
this process. In another process that address means nothing, so such a program is never written to
the cache.
"""
EXCEPTION = """
While debugging, the print is what counts. A static flag that leaves it out gives the finished
program back to the cache.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/persistent_compilation_cache.html",
    "https://docs.jax.dev/en/latest/external-callbacks.html",
)
STATED = "The program is kept on disk without a callback, and is not with one."


def do():
    """Compile without a print, and look into the cache's folder."""
    import tempfile
    from pathlib import Path

    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(x):
        return jnp.tanh(x) * 2

    with tempfile.TemporaryDirectory() as folder:
        jax.config.update("jax_enable_compilation_cache", True)
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        step(jnp.ones(8)).block_until_ready()
        return {"programs_kept": len(list(Path(folder).glob("jit_step-*-cache")))}


def dont():
    """Compile with a print, and look into the cache's folder."""
    import tempfile
    from pathlib import Path

    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(x):
        jax.debug.print("largest: {}", x.max())
        return jnp.tanh(x) * 2

    with tempfile.TemporaryDirectory() as folder:
        jax.config.update("jax_enable_compilation_cache", True)
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        step(jnp.ones(8)).block_until_ready()
        return {"programs_kept": len(list(Path(folder).glob("jit_step-*-cache")))}


def holds(do, dont):
    """Say whether the callback alone keeps the program from the cache."""
    return do["programs_kept"] == 1 and dont["programs_kept"] == 0
