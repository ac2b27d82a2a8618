"""Numba: functions under ``numba.njit(cache=True)``, on the CPU.

How a first call is divided into parts stands under *How it is watched*. In the candidates of
workloads, constants are of the arrays' own type: a Python number would make the arithmetic float64
for float32 arrays.
"""

from coldwarm.backends.base import Backend
from coldwarm.frameworks.numba import NumbaWatch
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class NumbaBackend(Backend):
    """Numba's just-in-time compiler with its cache on disk."""

    name = "numba"
    framework = "numba"
    modules = ("numba",)
    distributions = ("numba", "llvmlite", "scipy")
    device_suffix = False
    caches = ("numba",)
    compiles = True
    keeps_on_request = True
    sync_policy = "none needed: a compiled function returns finished arrays"
    pools = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    watched_by = NumbaWatch
    watcher: NumbaWatch

    def wrap(self, function: "Callable[..., Any]") -> "Callable[..., Any]":
        """Return ``numba.njit(cache=True)(function)``, or as Numba has it by itself."""
        import numba

        compiled: Callable[..., Any] = numba.njit(cache=self.keep_all)(function)
        self.watcher.keep(compiled)
        return compiled
