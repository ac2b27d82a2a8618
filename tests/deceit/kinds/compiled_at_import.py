"""Programs compiled while the module is imported, with a cache that the module has set itself."""

from __future__ import annotations

from tests.deceit.base import KEPT, Deceit

_SAID = (*KEPT, "own_cache", "caches_moved", "foreign_hits", "kept_elsewhere", "files_before")
_FORGET = """
    import shutil
    shutil.rmtree("{folder}/own-cache", ignore_errors=True)
    shutil.rmtree("{folder}/__pycache__", ignore_errors=True)
"""
_LOWEST = """
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
"""
_MODEL = """
    @jax.jit
    def model(x):
        for k in range(6):
            x = jnp.tanh(x @ x + k) * jnp.cos(x).sum()
        return x

    X = jnp.ones((24, 24))
"""
_FIRST = "    model(X).block_until_ready()\n"
_F = """
    def f():
        return model(X)
"""
_NUMBA = """
    import os
    {setting}
    import numba
    import numpy as np

    @numba.njit("f8(f8[:, :])", cache=True)
    def model(x):
        total = 0.0
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                total += np.sin(x[i, j]) * np.cos(x[j, i]) + np.sqrt(abs(x[i, j]))
        return total

    X = np.ones((24, 24))

    def f():
        return model(X)
"""

DECEITS = (
    Deceit(
        name="jax_cache_by_variable",
        hides="a program read from a cache of the module's own, set in os.environ",
        figure="first",
        needs=("jax",),
        said=_SAID,
        forget=_FORGET,
        source='    import os\n    os.environ["JAX_COMPILATION_CACHE_DIR"] = "{folder}/own-cache"\n'
        "    import jax\n    import jax.numpy as jnp\n" + _LOWEST + _MODEL + _FIRST + _F,
    ),
    Deceit(
        name="jax_cache_put_back",
        hides="the same by jax.config, which is set as it was when the import ends",
        figure="first",
        needs=("jax",),
        said=_SAID,
        forget=_FORGET,
        source="    import jax\n    import jax.numpy as jnp\n"
        "    before = jax.config.jax_compilation_cache_dir\n"
        '    jax.config.update("jax_compilation_cache_dir", "{folder}/own-cache")\n'
        + _LOWEST
        + _MODEL
        + _FIRST
        + '    jax.config.update("jax_compilation_cache_dir", before)\n'
        + _F,
    ),
    Deceit(
        name="jax_program_kept_by_hand",
        hides="a compiled program that the module has serialised into a file of its own",
        figure="first",
        needs=("jax",),
        said=_SAID,
        forget=_FORGET,
        source="    import os\n    import pickle\n    import jax\n    import jax.numpy as jnp\n"
        "    from jax.experimental import serialize_executable\n"
        + _MODEL
        + """
    KEPT = "{folder}/own-cache/model"

    def f():
        if not os.path.exists(KEPT):
            made = serialize_executable.serialize(model.lower(X).compile())
            os.makedirs(os.path.dirname(KEPT), exist_ok=True)
            with open(KEPT, "wb") as file:
                pickle.dump(made, file)
        with open(KEPT, "rb") as file:
            made = pickle.load(file)
        return serialize_executable.deserialize_and_load(*made)(X)
""",
    ),
    Deceit(
        name="numba_cache_by_variable",
        hides="machine code read from a cache of the module's own, set in os.environ",
        figure="first",
        needs=("numba",),
        said=_SAID,
        forget=_FORGET,
        source=_NUMBA.replace("{setting}", 'os.environ["NUMBA_CACHE_DIR"] = "{folder}/own-cache"'),
    ),
    Deceit(
        name="numba_cache_beside_the_file",
        hides="machine code in __pycache__, since the module removes Numba's variable",
        figure="first",
        needs=("numba",),
        said=_SAID,
        forget=_FORGET,
        source=_NUMBA.replace("{setting}", 'os.environ.pop("NUMBA_CACHE_DIR", None)'),
    ),
)
