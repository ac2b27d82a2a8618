"""Settings of the user's shell that make another thing of what a table names."""

from __future__ import annotations

from tests.deceit.base import Deceit

_SAID = ("setting_changes", "settings")
_TRUTH = """
    import numpy as np
    from coldwarm.workloads import nbody as workload
    {imports}
    given = tuple({place}(one) for one in workload.inputs(np.random.default_rng(0), 256, "{dtype}"))
    function = workload.for_{name}({wrap})
    for _ in range(3):
        {wait}(function(*given))
    for _ in range(12):
        mark()
        for _ in range(20):
            {wait}(function(*given))
        mark()
"""


_ONCE = ("--rounds", "2", "--max-rounds", "2")
_IN_JAX = {
    "imports": "import jax",
    "place": "jax.device_put",
    "name": "jax",
    "wrap": "jax.jit",
    "wait": "jax.block_until_ready",
    "dtype": "float32",
}
_IN_NUMBA = {
    "imports": "import numba",
    "place": "np.asarray",
    "name": "numba",
    "wrap": "numba.njit",
    "wait": "bool",
    "dtype": "float64",
}


def _setting(case: str, variables: dict[str, str], **more: object) -> Deceit:
    name = next(iter(variables))
    words = more.pop("words")
    assert isinstance(words, dict)
    truth = _TRUTH
    for key, value in words.items():
        truth = truth.replace("{" + key + "}", value)
    return Deceit(
        name=f"{name.lower()}_{case.partition('_')[0]}",
        hides=f"{name}={variables[name]} in the shell, under the name of {case}",
        figure="warm",
        said=_SAID,
        source="",
        calls=240,
        group=20,
        # The truth is what the name says: the backend without the setting.
        before="\n".join(f"os.environ.pop({key!r}, None)" for key in variables),
        variables=variables,
        truth=truth,
        command=("run", "--case", case, "--cache-mode", "warm_process", *_ONCE),
        **more,  # type: ignore[arg-type]
    )


_JAX_CASE, _NUMBA_CASE = "jax_jit_cpu_nbody_256_f32", "numba_nbody_256_f64"

DECEITS = (
    _setting(_JAX_CASE, {"JAX_DISABLE_JIT": "1"}, words=_IN_JAX, needs=("jax",)),
    _setting(
        _JAX_CASE,
        {"XLA_FLAGS": "--xla_backend_optimization_level=0"},
        words=_IN_JAX,
        needs=("jax",),
    ),
    _setting(_NUMBA_CASE, {"NUMBA_DISABLE_JIT": "1"}, words=_IN_NUMBA, needs=("numba",)),
    _setting(_NUMBA_CASE, {"NUMBA_OPT": "0"}, words=_IN_NUMBA, needs=("numba",)),
)
