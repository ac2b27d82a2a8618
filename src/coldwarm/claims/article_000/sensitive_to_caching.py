"""How long compiling takes depends strongly on what caches hold."""

ARTICLE = {
    "article": "000",
    "place": 'Cache policy: "cold" has multiple meanings',
    "figure": "extremely sensitive to caching",
}
QUANTITY = (
    "A first call with an empty cache over one with a cache that the same program has filled."
)
PROTOCOL = """
Two processes call the same function with one folder as the persistent cache, one after the other;
the first finds it empty. The first calls of both are compared. Three functions are training steps
in JAX, of MLPs of 6, 24 and 96 layers (64 wide, every program cached), each in six such pairs; the
fourth is a two-layer network under `torch.compile`, in three pairs, as each takes long.
"""
RULE = """
Extremely is read as: what the cache holds decides on more than half of the figure, so that the
first call with an empty cache takes at least twice as long. A function holds where that is so in
all its pairs. Confirmed where more than half of the four hold; depends where some hold and others
take less than twice as long in all pairs; refuted where none holds and more than half take less in
all; otherwise inconclusive.
"""
OF_JAX = ("jax_6_layers", "jax_24_layers", "jax_96_layers")
FACTS = (
    {"functions": OF_JAX, "processes": 6},
    {"functions": ("torch_compiled",), "processes": 3},
)
DOCS = ("https://docs.jax.dev/en/latest/persistent_compilation_cache.html",)
NOTE = """
JAX writes nothing that compiled in less than a second, unless it is told to; here it is.
"""


def jax_6_layers():
    """Start two processes of JAX with one cache."""
    return _pair_of_jax(6)


def jax_24_layers():
    """Start two processes of JAX with one cache."""
    return _pair_of_jax(24)


def jax_96_layers():
    """Start two processes of JAX with one cache."""
    return _pair_of_jax(96)


def torch_compiled():
    """Start two processes of PyTorch with one cache."""
    import torch  # noqa: F401 - its version is told with the result

    return _pair(_CACHE_OF_TORCH, "torch_first_call")


def _pair_of_jax(layers):
    import jax  # noqa: F401 - its version is told with the result

    return _pair(_CACHE_OF_JAX, "jax_first_call", str(layers))


_CACHE_OF_JAX = {
    "JAX_COMPILATION_CACHE_DIR": "jax",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": 0,
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": -1,
    "JAX_ENABLE_COMPILATION_CACHE": True,
}
_CACHE_OF_TORCH = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TMPDIR": "tmp"}
"""Texts are folders inside that of the pair. Precompiled headers lie in the temporary one."""


def _pair(variables, *call):
    import os
    import subprocess
    import sys
    import tempfile
    from pathlib import Path

    program = "import runpy, sys; _, path, name, *given = sys.argv; "
    program += "print(runpy.run_path(path)[name](*map(int, given)))"
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        for variable, value in variables.items():
            path = Path(folder) / str(value)
            if isinstance(value, str):
                path.mkdir()
            environment[variable] = str(path) if isinstance(value, str) else str(value)
        first_s = []
        for _ in range(2):
            told = subprocess.run(
                [sys.executable, "-c", program, __file__, *call],
                check=True,
                env=environment,
                capture_output=True,
                text=True,
            )
            first_s.append(float(told.stdout.splitlines()[-1]))
    return {"empty_s": first_s[0], "filled_s": first_s[1], "ratio": first_s[0] / first_s[1]}


def jax_first_call(layers):
    """Return the seconds of the first call of a training step in JAX."""
    import time

    import jax
    import jax.numpy as jnp

    def loss(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return jnp.mean(x**2)

    step = jax.jit(jax.value_and_grad(loss))
    weights, x = [jnp.full((64, 64), 0.01)] * layers, jnp.ones((32, 64))
    jax.block_until_ready((weights, x))
    begin = time.perf_counter()
    jax.block_until_ready(step(weights, x))
    return time.perf_counter() - begin


def torch_first_call():
    """Return the seconds of the first call of a network compiled by PyTorch."""
    import time

    import torch

    w1, w2, x = torch.full((64, 64), 0.01), torch.full((64, 1), 0.01), torch.ones(32, 64)

    @torch.compile
    def predict(x):
        return torch.tanh(x @ w1) @ w2

    begin = time.perf_counter()
    predict(x)
    return time.perf_counter() - begin


def judge(seen):
    """Decide by the rule."""
    functions = (*OF_JAX, "torch_compiled")
    return seen.mostly([seen.over_processes(name, "ratio") for name in functions], 2.0)
