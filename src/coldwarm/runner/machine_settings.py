"""Settings that change what is measured: those that make it another thing, and those that tune it.

A backend of the project is measured as it comes, or not at all: where a setting takes its compiler
away, or its optimisations, the figures would be taken for those of the backend. Whatever else may
change a figure is named beside it. A user's own function is measured as the user has it. Pure.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from coldwarm.registry import BackendSpec

    Changes = Callable[[str], bool]


_NO = {"", "0", "false", "off", "no", "none"}
_EVERYWHERE = "any"
_NUMBA_FILE = ".numba_config.yaml"


def _on(value: str) -> bool:
    return value.strip().lower() not in _NO


def _given(value: str) -> bool:
    return value != ""


def _but(*usual: str) -> Changes:
    return lambda value: value.strip().lower() not in {"", *usual}


_FLAGS: tuple[tuple[str, Changes], ...] = (
    (r"xla_(\w+_)?optimization_level", _but("3")),
    (r"xla_(llvm_disable_expensive_passes|disable_all_hlo_passes|hlo_profile)", _on),
    (r"xla_cpu_(enable_fast_m\w+)", _on),
    (r"xla_(disable_hlo_passes|enable_hlo_passes_only|dump_to|dump_hlo_\w+)", _on),
)
"""Flags of XLA that change its optimisations, or add to its work."""


def _xla(value: str) -> bool:
    """Say whether flags of XLA change what it makes; a value may be the name of a file of them."""
    if value.strip() and not value.strip().startswith("-"):
        try:
            value = Path(value.strip()).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return False
    flags: dict[str, str] = {}
    for option in value.split():
        name, _, given = option.lstrip("-").partition("=")
        flags[name] = given.strip("'\"") if "=" in option else "true"
    return any(
        re.fullmatch(pattern, name) is not None and changes(given)
        for name, given in flags.items()
        for pattern, changes in _FLAGS
    )


_CHANGING: dict[str, tuple[tuple[str, Changes], ...]] = {
    "jax": (
        (r"JAX_DISABLE_(JIT|MOST_OPTIMIZATIONS)", _on),
        (r"JAX_(DEBUG_(NANS|INFS|KEY_REUSE)|ENABLE_CHECKS|CHECK_TRACER_LEAKS)", _on),
        (r"JAX_NO_(EXECUTION|TRACING)", _on),
        (r"JAX_OPTIMIZATION_LEVEL", _but("unknown")),
        (r"JAX_EXEC_TIME_OPTIMIZATION_EFFORT", _but("0", "0.0")),
        (r"XLA_FLAGS", _xla),
    ),
    "numba": (
        (r"NUMBA_(DISABLE_JIT|ENABLE_CUDASIM|BOUNDSCHECK|JIT_COVERAGE)", _on),
        (r"NUMBA_OPT", _but("3", "max")),
        (r"NUMBA_(DEBUG\w*|DUMP_\w+|TRACE|EXTEND_VARIABLE_LIFETIMES|NRT_STATS)", _on),
    ),
    "torch": (
        (r"TORCH(_COMPILE|DYNAMO)_DISABLE", _on),
        (r"TORCHDYNAMO_SUPPRESS_ERRORS|TORCH_COMPILE_OVERRIDE_BACKENDS", _given),
        (r"TORCH_COMPILE_(DEBUG|CPROFILE|DYNAMO_PROFILER|REPLAY_RECORD)", _on),
        (r"TORCHDYNAMO_REPRO_AFTER", _given),
        (r"TORCHINDUCTOR_WRITE_MISSING_OPS", _on),
        (r"torch\._dynamo\.config\.(disable|suppress_errors)", _on),
        (r"torch\._dynamo\.config\.(debug_backend_override|repro_after)", _given),
        (r"torch\.compiler\.set_stance", _given),
        (r"torch\.is_anomaly_enabled", _on),
    ),
    _EVERYWHERE: (
        (r"PYTHONDEVMODE|PYTHONPROFILEIMPORTTIME|PYTHONTRACEMALLOC|PYTHONDUMPREFS", _on),
        (r"PYTHONMALLOC", lambda value: "debug" in value),
        (r"sys\.set(trace|profile)", _given),
    ),
}
"""By framework, what makes a backend another thing than its name says."""
_TUNING: dict[str, str] = {
    "jax": r"JAX_\w+|XLA_\w+|TF_XLA_FLAGS",
    "numba": r"NUMBA_\w+",
    "torch": r"TORCH\w+|PYTORCH_\w+|ATEN_CPU_CAPABILITY|DNNL_\w+|ONEDNN_\w+",
    _EVERYWHERE: (
        r"OMP_\w+|GOMP_\w+|KMP_\w+|MKL_\w+|OPENBLAS_\w+|GOTO_\w+|BLIS_\w+|VECLIB_\w+|TBB_\w+"
        r"|NPY_\w+|MALLOC_\w+|GLIBC_TUNABLES|LD_PRELOAD|LD_AUDIT|LD_BIND_NOW|COVERAGE_PROCESS_START"
        r"|PYTHONOPTIMIZE|PYTHONMALLOC|PYTHON_GIL|PYTHON_JIT|PYTHONPERFSUPPORT|PYTHON_PERF\w+"
        r"|PYTHON_CPU_COUNT|PYTHONTRACEMALLOC|PYTHONDEVMODE"
    ),
    "gpu": r"CUDA_\w+|CUBLAS_\w+|CUDNN_\w+|NVIDIA_TF32_OVERRIDE|NCCL_\w+|HIP_\w+|TRITON_\w+",
}
"""By framework, variables that may change a figure and leave the backend what it is."""
_HARMLESS = re.compile(
    r"JAX_(LOGGING_LEVEL|TRACEBACK_FILTERING|PPRINT_USE_COLOR|CHECK_PROXY_ENVS)|NUMBA_COLOR_SCHEME"
    r"|NUMBA_(FULL_TRACEBACKS|CACHE_DIR|DISABLE_PERFORMANCE_WARNINGS|DEBUG_CACHE)|TORCH_(HOME|SHOW\w+)"
    r"|TORCHINDUCTOR_CACHE_DIR|JAX_COMPILATION_CACHE_DIR|MALLOC_ARENA_TEST"
    # What the makers of images for GPUs note of what is in them; nothing reads it.
    r"|(CUDA|CUDNN|CUBLAS|NCCL)(_\w+)?_VERSION"
)


def frameworks_of(backend: BackendSpec) -> set[str]:
    """Return what a backend is made of, as far as settings are concerned."""
    return {backend.framework, *backend.modules} & _CHANGING.keys()


def of_user(
    base: Mapping[str, str], built: Mapping[str, str], folder: Path | None = None
) -> dict[str, str]:
    """Return the known settings that a process has from its user: ``built`` as in ``base``.

    A file of Numba's in ``folder``, its working directory, is obeyed as variables are.
    """
    given = {name: value for name, value in base.items() if built.get(name) == value}
    given = {**_numba_file(Path() if folder is None else folder), **given}
    return known(given)


def known(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that may change what some backend is, or what it costs."""
    return {name: value for name, value in variables.items() if _is_known(name)}


def _is_known(name: str) -> bool:
    if _HARMLESS.fullmatch(name):
        return False
    patterns = [*_TUNING.values(), *(p for rules in _CHANGING.values() for p, _ in rules)]
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def _numba_file(folder: Path) -> dict[str, str]:
    """Return what a file of Numba's sets, under the names of the variables that it stands for."""
    try:
        entries = (folder / _NUMBA_FILE).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return {}
    pairs = (entry.partition("#")[0].partition(":") for entry in entries)
    return {
        f"NUMBA_{name.strip().upper()}": value.strip().strip("'\"")
        for name, colon, value in pairs
        if colon and name.strip().isidentifier()
    }


def relevant(
    settings: Mapping[str, str], frameworks: Iterable[str], *, gpu: bool = False
) -> dict[str, str]:
    """Return the settings that concern a program of these frameworks, their values to be shown."""
    concerned = {*frameworks, _EVERYWHERE} | ({"gpu"} if gpu else set())
    return {
        name: value
        for name, value in sorted(settings.items())
        if any(re.fullmatch(_TUNING[one], name) for one in concerned if one in _TUNING)
        or not name.isupper()
        or _changing({name: value}, concerned)
    }


def changing(settings: Mapping[str, str], backend: BackendSpec) -> list[str]:
    """Return the settings, as ``name=value``, that make a backend another thing."""
    concerned = {*frameworks_of(backend), _EVERYWHERE}
    if backend.framework == "torch" and not (backend.compiles or backend.prepares):
        concerned.discard("torch")  # they are its compiler's
    return _changing(settings, concerned)


def _changing(settings: Mapping[str, str], concerned: Iterable[str]) -> list[str]:
    rules = [rule for one in concerned for rule in _CHANGING.get(one, ())]
    return [
        f"{name}={value}"
        for name, value in sorted(settings.items())
        if any(
            re.fullmatch(pattern, _variable(name)) and changes(value) for pattern, changes in rules
        )
    ]


def _variable(name: str) -> str:
    """Return the variable that stands for a configured value, or the name itself."""
    if name.startswith("jax_"):
        return name.upper()
    if name.startswith("numba.config."):
        return f"NUMBA_{name.removeprefix('numba.config.').removesuffix('_DEFAULT')}"
    return name
