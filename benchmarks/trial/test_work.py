"""Warm work under pytest-benchmark; ``UNITS`` names the function, as a commit would.

Not a test of this project: a trial runs it by path, once for each side.
"""

import os
from collections.abc import Callable

import numpy as np
import work_numpy  # type: ignore[import-not-found]  # it lies beside this file


def test_work(benchmark: Callable[..., np.ndarray]) -> None:
    """Measure one side, under a name that both have in common."""
    function = getattr(work_numpy, f"units_{os.environ['UNITS']}")
    assert benchmark(function, np.linspace(0.0, 1.0, 1024)).shape == (1024,)
