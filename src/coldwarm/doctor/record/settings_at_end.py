"""What is there when the program ends: settings that slow it down, and its threads."""

import os
import sys

from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


_OF_JAX = (
    "jax_debug_nans",
    "jax_debug_infs",
    "jax_disable_jit",
    "jax_enable_checks",
    "jax_check_tracer_leaks",
    "jax_debug_key_reuse",
    "jax_disable_most_optimizations",
)
_OF_XLA = (
    "--xla_disable_hlo_passes=",
    "--xla_backend_optimization_level=0",
    "--xla_backend_optimization_level=1",
    "--xla_llvm_disable_expensive_passes=true",
)
"""Beginnings of what turns XLA's own optimizations off, in the variable ``XLA_FLAGS``."""


def debugging() -> "dict[str, Any]":
    """Return the settings that are on, PyTorch's threads and use of a GPU, and caches."""
    config = getattr(sys.modules.get("jax"), "config", None)
    on = [name for name in _OF_JAX if getattr(config, name, None) is True]
    if config is not None:
        on += [one for one in os.environ.get("XLA_FLAGS", "").split() if one.startswith(_OF_XLA)]
    n_threads, uses_gpu = 0, False
    if "torch._C" in sys.modules:  # PyTorch itself, and all of it
        torch: Any = sys.modules["torch"]
        if torch.is_anomaly_enabled() is True:
            on.append("set_detect_anomaly")
        n_threads = int(torch.get_num_threads())
        uses_gpu = torch.cuda.is_initialized() is True
    processors = len(os.sched_getaffinity(0))
    return {
        "on": on,
        "threads": n_threads,
        "processors": processors,
        "torch_gpu": uses_gpu,
        "caches": _caches(config),
    }


def _caches(config: "Any") -> "dict[str, str]":
    """Return the folders of caches that are set, by framework; ``config`` is that of JAX."""
    of_numba = getattr(getattr(sys.modules.get("numba"), "config", None), "CACHE_DIR", "")
    found = {
        "jax": getattr(config, "jax_compilation_cache_dir", None),
        "torch": os.environ.get("TORCHINDUCTOR_CACHE_DIR"),
        "numba": of_numba,
    }
    return {name: str(folder) for name, folder in found.items() if folder}
