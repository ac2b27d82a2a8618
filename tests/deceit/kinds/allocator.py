"""Calls that cost what the C allocator makes of them, which a harness may change."""

from __future__ import annotations

from tests.deceit.base import Deceit

_SAID = ("memory_returned", "memory_may_be_returned")


def _allocating(name: str, hides: str, source: str, **more: object) -> Deceit:
    return Deceit(
        name=name,
        hides=hides,
        figure="warm",
        said=_SAID,
        calls=200,
        group=20,
        source=source,
        **more,  # type: ignore[arg-type]
    )


DECEITS = (
    _allocating(
        "temporary_arrays",
        "pages that the kernel clears anew for temporary arrays in each call",
        """
            import asyncio
            import numpy as np

            X = np.random.default_rng(0).normal(size=40_000)

            def f():
                return float(((X * 2.0 + 1.0) - (X - 3.0) * X).sum())
        """,
    ),
    _allocating(
        "large_temporary_arrays",
        "pages that are mapped and unmapped for large temporary arrays",
        """
            import numpy as np

            X = np.random.default_rng(0).normal(size=150_000)

            def f():
                return float((np.abs(X) + X * 2.0)[::7].sum())
        """,
    ),
    _allocating(
        "threshold_of_the_program",
        "an allocator that the program itself has told to keep nothing",
        """
            import ctypes
            import numpy as np

            libc = ctypes.CDLL(None)
            libc.mallopt(-1, 0)
            libc.mallopt(-3, 65_536)
            X = np.random.default_rng(0).normal(size=100_000)

            def f():
                return float((X * 2.0 + X).sum())
        """,
    ),
)
