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
    """Return the settings that are on, by name, and the threads of PyTorch that are too many."""
    config = getattr(sys.modules.get("jax"), "config", None)
    on = [name for name in _OF_JAX if getattr(config, name, None) is True]
    torch: Any = sys.modules.get("torch")
    if hasattr(torch, "is_anomaly_enabled") and torch.is_anomaly_enabled():
        on.append("set_detect_anomaly")
    n_threads = torch.get_num_threads() if hasattr(torch, "get_num_threads") else 0
    n_processors = len(os.sched_getaffinity(0))
    return {"on": on, "threads": n_threads, "processors": n_processors}
