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

from benchmarks import interleaved, runs
from benchmarks.rows import Row

GROUP = "interference"
PAIRS = 25
CANDIDATES = {"jax": "jax_jit_cpu", "numpy": "numpy"}


def measure() -> list[Row]:
    """Compare the import of JAX, or of NumPy where JAX is not installed."""
    module = next(name for name in CANDIDATES if util.find_spec(name) is not None)
    found = interleaved.measure(
        {"worker": lambda: worker(CANDIDATES[module]), "bare": lambda: bare(module)}, PAIRS
    )
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


def median_interval(values: list[float]) -> tuple[float, float]:
    """Return the two values between which the true median lies at 95 %, by the sign test."""
    ranked, n = sorted(values), len(values)
    below, rank = 0.5**n, 0
    while below <= 0.025:
        rank += 1
        below += math.comb(n, rank) * 0.5**n
    return ranked[rank - 1], ranked[n - rank]


def worker(candidate: str) -> float:
    """Return the seconds that a measured process reports for its import.

    Raises:
        ValueError: it came to no import.
    """
    with tempfile.TemporaryDirectory() as name:
        run = runs.coldwarm(
            Path(name, "out"),
            *("--case", f"{candidate}_matmul_512_f32"),
            *("--cache-mode", "cold_process_cold_cache"),
            *("--min-runs", "1", "--max-runs", "1"),
        )
    for seen in run.cases[0].observations:
        seconds = seen.phase_s("import")
        if seconds is not None:
            return seconds
    text = f"{candidate} gave no import phase: {run.cases[0].reason}"
    raise ValueError(text)


def bare(module: str) -> float:
    """Return the seconds that the import takes in an interpreter that does nothing else."""
    snippet = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter()-t)"
    done = subprocess.run([sys.executable, "-c", snippet], capture_output=True, check=True)
    return float(done.stdout)
