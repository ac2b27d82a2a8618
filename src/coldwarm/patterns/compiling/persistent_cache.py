"""Keep compiled programs on disk for the next start."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "each start of a program compiles the same again"
MECHANISM = """
What `jit` has compiled is forgotten when the process ends. With a folder for the compilation
cache, the next process finds the finished program by a hash of its text and of the compiler's
options; it traces and lowers again, but does not compile.
"""
EXCEPTION = """
Programs that compile in milliseconds gain little; and who can write to the folder can have code
run, so it is no place to be shared with strangers.
"""
DOCS = ("https://docs.jax.dev/en/latest/persistent_compilation_cache.html",)
ARTICLES = ({"article": "002", "place": "Essential configuration flags", "figure": ""},)
STATED = "After the caches in memory are emptied, as by a restart, the program is found in the \
folder; without a folder it is compiled again."


def do():
    """Compile with a folder for the cache, forget all that is in memory, and compile again."""
    import tempfile
    import time

    import jax
    import jax.numpy as jnp

    spent, hits = [], []
    jax.monitoring.register_event_listener(
        lambda event, **_: hits.append(event) if event.endswith("/cache_hits") else None
    )

    @jax.jit
    def network(x):
        for _ in range(20):
            x = jnp.tanh(x @ x)
        return x

    with tempfile.TemporaryDirectory() as folder:
        jax.config.update("jax_enable_compilation_cache", True)
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        x = jnp.eye(32)
        for _ in range(2):
            jax.clear_caches()  # what a restart forgets
            begin = time.perf_counter()
            network(x).block_until_ready()
            spent.append(time.perf_counter() - begin)
    return {"found_on_disk": len(hits), "first_call_s": spent[0], "again_s": spent[1]}


def dont():
    """Compile without a folder, forget all that is in memory, and compile again."""
    import time

    import jax
    import jax.numpy as jnp

    spent, hits = [], []
    jax.monitoring.register_event_listener(
        lambda event, **_: hits.append(event) if event.endswith("/cache_hits") else None
    )

    @jax.jit
    def network(x):
        for _ in range(20):
            x = jnp.tanh(x @ x)
        return x

    jax.config.update("jax_enable_compilation_cache", False)
    x = jnp.eye(32)
    for _ in range(2):
        jax.clear_caches()  # what a restart forgets
        begin = time.perf_counter()
        network(x).block_until_ready()
        spent.append(time.perf_counter() - begin)
    return {"found_on_disk": len(hits), "first_call_s": spent[0], "again_s": spent[1]}


def holds(do, dont):
    """Say whether the program is found on disk with a folder, and not without."""
    return do["found_on_disk"] >= 1 and dont["found_on_disk"] == 0
