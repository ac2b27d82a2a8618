"""A backend that imports nothing in its import phase, so that only the worker's own is seen."""

from coldwarm.backends.base import Backend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np


class Bare(Backend):
    """NumPy, imported late."""

    name = "bare"
    framework = "numpy"
    modules = ("numpy",)
    distributions = ("numpy",)
    sync_policy = "none needed"

    def import_runtime(self) -> None:
        """Import nothing."""

    def place(self, arrays: "Sequence[np.ndarray[Any, Any]]") -> "tuple[Any, ...]":
        """Return the arrays."""
        return tuple(arrays)

    def fetch(self, out: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return the output."""
        return [out]

    def versions(self) -> "dict[str, str]":
        """Return nothing."""
        return {}
