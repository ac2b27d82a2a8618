"""Overhead: what the warm loop adds to a call, beside ``timeit`` and pyperf.

All three time the same function, which does nothing with its one argument, in this process and
in turns. In their fastest form, too: function and argument are local names in each loop.
"""

from __future__ import annotations

import gc
import statistics
import time
import timeit
from itertools import repeat
from typing import TYPE_CHECKING

from benchmarks import interleaved
from benchmarks.rows import Row
from pyperf import _timeit as pyperf_timeit

from coldwarm.worker.loop import make_loop

if TYPE_CHECKING:
    from collections.abc import Callable

GROUP = "overhead"
CALLS = 20_000
ROUNDS = 101
BOUND_NS = 5.0
_LOCAL = "function, argument = given"
_CALL = "function(argument)"


def nothing(argument: object) -> None:
    """Do nothing."""


def measure() -> list[Row]:
    """Compare the medians of a call under each of the three loops."""
    gc.collect()
    gc.disable()
    try:
        found = interleaved.measure(loops(), ROUNDS, discard=5)
    finally:
        gc.enable()
    own_ns, timeit_ns, pyperf_ns = (statistics.median(values) for values in found.values())
    return [
        Row(
            GROUP,
            f"call in the warm loop − {name}'s",
            f"{own_ns:.1f} ns",
            f"{other_ns:.1f} ns in {name}",
            own_ns - other_ns,
            BOUND_NS,
            "ns",
            series={"coldwarm_ns": found["coldwarm"], f"{name}_ns": found[name]},
        )
        for name, other_ns in (("timeit", timeit_ns), ("pyperf", pyperf_ns))
    ]


def loops() -> dict[str, Callable[[], float]]:
    """Return the three loops; each gives ns of one call."""
    given = (nothing, 1.0)
    loop = make_loop(1, synchronous=True)
    theirs = timeit.Timer(_CALL, _LOCAL, globals={"given": given})
    pyperfs = pyperf_timeit.Timer(_CALL, _LOCAL, globals={"given": given})

    def own() -> float:
        samples = loop(time.perf_counter_ns, repeat, nothing, None, (1.0,), CALLS, 1, 10**9)
        return samples[0] / CALLS

    return {
        "coldwarm": own,
        "timeit": lambda: theirs.timeit(CALLS) / CALLS * 1e9,
        "pyperf": lambda: float(pyperfs.time_func(CALLS)) / CALLS * 1e9,
    }
