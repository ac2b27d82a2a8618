"""Workloads: one file for each job, found by scanning this folder."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np

    Array = np.ndarray[Any, Any]
    Generator = np.random.Generator
    Function = Callable[..., Any]
    Wrap = Callable[[Function], Function]
