"""Settings for finding faults that are on when the program ends, and threads beyond processors."""

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
)


def debugging() -> "dict[str, Any]":
    """Return the settings that are on, by name, and the threads of PyTorch for an operation."""
    config = getattr(sys.modules.get("jax"), "config", None)
    on = [name for name in _OF_JAX if getattr(config, name, None) is True]
    n_threads = 0
    if "torch._C" in sys.modules:  # PyTorch itself, and all of it
        torch: Any = sys.modules["torch"]
        if torch.is_anomaly_enabled() is True:
            on.append("set_detect_anomaly")
        n_threads = int(torch.get_num_threads())
    return {"on": on, "threads": n_threads, "processors": len(os.sched_getaffinity(0))}
