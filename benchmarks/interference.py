"""Interference: a worker's ``import`` phase beside the same import in a bare interpreter.

Both run in pairs, in random order within each, and the median of the pairs' differences is
judged: a machine that slows down does so for both of a pair. Where other programs scatter the
imports by more than the bound, the interval of that median says how far it can be trusted.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import tempfile
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import interleaved
from benchmarks.rows import Row

from coldwarm.clock import Clock
from coldwarm.runner import case_list, harness, isolation
from coldwarm.runner.case_list import Options
from coldwarm.runner.launch import RunContext, Slot
from coldwarm.runner.spawn import Guard

if TYPE_CHECKING:
    from collections.abc import Callable

GROUP = "interference"
PAIRS = 41
CANDIDATES = {"jax": "jax_jit_cpu", "numpy": "numpy"}


def measure() -> list[Row]:
    """Compare the import of JAX, or of NumPy where JAX is not installed."""
    module = next(name for name in CANDIDATES if util.find_spec(name) is not None)
    with tempfile.TemporaryDirectory() as work, Guard() as guard:
        starts = Starts(CANDIDATES[module], RunContext(Options(), guard, Clock(), Path(work)))
        sides: dict[str, Callable[[], float]] = {"worker": starts, "bare": lambda: bare(module)}
        found = interleaved.measure(sides, PAIRS)
    worker_ms, bare_ms = ([1e3 * value for value in values] for values in found.values())
    differences = [one - other for one, other in zip(worker_ms, bare_ms, strict=True)]
    low, high = median_interval(differences)
    typical_ms = statistics.median(bare_ms)
    return [
        Row(
            GROUP,
            f"import {module}, worker − bare",
            f"{statistics.median(worker_ms):.0f} ms; fastest {min(worker_ms):.0f}",
            f"{typical_ms:.0f} ms; fastest {min(bare_ms):.0f}",
            abs(statistics.median(differences)),
            max(5.0, 0.02 * typical_ms),
            "ms",
            noise=(high - low) / 2,
            series={"worker_ms": worker_ms, "bare_ms": bare_ms},
        )
    ]


class Starts:
    """Starts measured processes of one case, each with empty caches of its own."""

    def __init__(self, candidate: str, place: RunContext) -> None:
        """Prepare what a run prepares before its first process."""
        (self._case,) = case_list.choose(Options(cases=(f"{candidate}_matmul_512_f32",)))
        self._place = place
        harness.probe([self._case.backend], [self._case.workload], gpu=False)
        place.compute_reference(self._case)
        self._started = 0

    def __call__(self) -> float:
        """Return the seconds that a measured process reports for its import.

        Raises:
            ProcessFailedError: it came to no result.
            ValueError: its answer was wrong.
        """
        self._started += 1
        root = self._place.work / str(self._started)
        slot = Slot(self._case, "cold_process_cold_cache", self._started, 0, root)
        running = self._place.start(slot)
        running.finish()
        isolation.discard(root)
        observation = running.observation()
        seconds = observation.phase_s("import")
        if seconds is None:
            text = f"{self._case.id} gave no import phase: {observation.reason}"
            raise ValueError(text)
        return seconds


def median_interval(values: list[float]) -> tuple[float, float]:
    """Return the two values between which the true median lies at 95 %, by the sign test."""
    ranked, n = sorted(values), len(values)
    below, rank = 0.5**n, 0
    while below <= 0.025:
        rank += 1
        below += math.comb(n, rank) * 0.5**n
    return ranked[rank - 1], ranked[n - rank]


def bare(module: str) -> float:
    """Return the seconds that the import takes in an interpreter that does nothing else."""
    snippet = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter()-t)"
    done = subprocess.run([sys.executable, "-c", snippet], capture_output=True, check=True)
    return float(done.stdout)
