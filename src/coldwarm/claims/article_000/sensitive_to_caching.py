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
the first finds it empty. The first calls of both are compared: a training step of an MLP of 12
layers in JAX (six pairs, every program cached), and a two-layer network under `torch.compile` (one
pair).
"""
RULE = """
Confirmed where the empty cache makes the first call at least twice as long: in all pairs of JAX,
and in that of PyTorch. Refuted where in no pair of JAX, or not in that of PyTorch. Otherwise
inconclusive.
"""
FACTS = (
    {"functions": ("of_jax",), "processes": 6},
    {"functions": ("of_torch",)},
)
DOCS = ("https://docs.jax.dev/en/latest/persistent_compilation_cache.html",)
NOTE = """
JAX writes nothing that compiled in less than a second, unless it is told to; here it is.
"""


def of_jax():
    """Start two processes of JAX with one cache."""
    return _pair("jax_first_call", _OF_JAX)


def of_torch():
    """Start two processes of PyTorch with one cache."""
    return _pair("torch_first_call", _OF_TORCH)


_OF_JAX = {
    "JAX_COMPILATION_CACHE_DIR": "jax",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": 0,
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": -1,
    "JAX_ENABLE_COMPILATION_CACHE": True,
}
_OF_TORCH = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TMPDIR": "tmp"}
"""Texts are folders inside that of the pair. Precompiled headers lie in the temporary one."""


def _pair(name, variables):
    import os
    import subprocess
    import sys
    import tempfile
    from pathlib import Path

    program = "import runpy, sys; print(runpy.run_path(sys.argv[1])[sys.argv[2]]())"
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
                [sys.executable, "-c", program, __file__, name],
                check=True,
                env=environment,
                capture_output=True,
                text=True,
            )
            first_s.append(float(told.stdout.splitlines()[-1]))
    return {"empty_s": first_s[0], "filled_s": first_s[1], "ratio": first_s[0] / first_s[1]}


def jax_first_call():
    """Return the seconds of the first call of a training step in JAX."""
    import time

    import jax
    import jax.numpy as jnp

    def loss(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return jnp.mean(x**2)

    step = jax.jit(jax.value_and_grad(loss))
    weights, x = [jnp.full((64, 64), 0.01)] * 12, jnp.ones((32, 64))
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
    ours = seen.at_least(seen.over_processes("of_jax", "ratio"), 2.0)
    theirs = seen.fact("of_torch", "ratio") >= 2.0
    return ours if theirs else "refuted"
