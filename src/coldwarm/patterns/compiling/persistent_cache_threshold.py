"""Lower the cache's thresholds too: by default what compiles within a second is not kept."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "the folder of the compilation cache stays empty"
MECHANISM = """
JAX writes only programs to the compilation cache whose compilation took at least a second. A
program of many small functions is then compiled anew at each start, although a folder is set.
"""
EXCEPTION = """
On slow or shared file systems, writing and reading thousands of small files can take longer than
compiling them.
"""
DOCS = ("https://docs.jax.dev/en/latest/persistent_compilation_cache.html",)
ARTICLES = ({"article": "002", "place": "Essential configuration flags", "figure": ""},)
STATED = (
    "With thresholds of zero the program is written to the folder; with the defaults it is not."
)


def do():
    """Set the folder and both thresholds."""
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
    """Set the folder alone; the thresholds are as JAX has them."""
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
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 1.0)  # the default
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)  # the default
        step(jnp.ones(8)).block_until_ready()
        return {"programs_kept": len(list(Path(folder).glob("jit_step-*-cache")))}


def holds(do, dont):
    """Say whether the program is kept with lowered thresholds alone."""
    return do["programs_kept"] >= 1 and dont["programs_kept"] == 0
