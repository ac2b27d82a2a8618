"""NumPy: eager, compiled ahead of time, the baseline of most workloads."""

from coldwarm.backends.base import Backend


class NumpyBackend(Backend):
    """Plain NumPy on the CPU; calls return finished arrays, nothing is compiled."""

    name = "numpy"
    framework = "numpy"
    modules = ("numpy",)
    distributions = ("numpy",)
    device_suffix = False
    pools = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    sync_policy = "none needed: a NumPy call returns finished arrays"

    def versions(self) -> "dict[str, str]":
        """Return NumPy's version."""
        import numpy as np

        return {"numpy": np.__version__}
