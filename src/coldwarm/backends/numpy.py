"""NumPy: eager, compiled ahead of time, the baseline of most workloads."""

from coldwarm.backends.base import Backend
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np


class NumpyBackend(Backend):
    """Plain NumPy on the CPU; calls return finished arrays, nothing is compiled."""

    name = "numpy"
    framework = "numpy"
    modules = ("numpy",)
    distributions = ("numpy",)
    device_suffix = False
    pools = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    sync_policy = "none needed: a NumPy call returns finished arrays"

    def import_runtime(self) -> None:
        """Import NumPy."""
        import numpy as np  # noqa: F401 - importing it is what is timed

    def place(self, arrays: "Sequence[np.ndarray[Any, Any]]") -> "tuple[Any, ...]":
        """Return the arrays as they are."""
        return tuple(arrays)

    def fetch(self, out: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return the outputs, flattened."""
        import numpy as np

        if isinstance(out, tuple | list):
            return [leaf for item in out for leaf in self.fetch(item)]
        return [np.asarray(out)]

    def versions(self) -> "dict[str, str]":
        """Return NumPy's version."""
        import numpy as np

        return {"numpy": np.__version__}
