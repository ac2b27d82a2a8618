"""Warm work under pytest-benchmark; ``UNITS`` names the function, as a commit would.

Not a test of this project: a trial runs it by path, once for each side.
"""

import os
from collections.abc import Callable

from subject import timed  # type: ignore[import-not-found]  # it lies beside this file


def test_work(benchmark: Callable[..., object]) -> None:
    """Measure one side, under a name that both have in common."""
    assert benchmark(timed(*(os.environ[name] for name in ("KIND", "UNITS", "SHAPE")))) is not None
