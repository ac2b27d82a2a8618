"""Interference: a worker's ``import`` phase beside the same import in a bare interpreter.

Both run in turns. What is judged is the fastest tenth of each side: whatever else the machine
does only adds to an import, and on a busy one by more than the bound, so that medians would tell
of the neighbours. What the worker itself adds, it would add to its fastest imports too.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from importlib import util
from pathlib import Path

from benchmarks import interleaved, runs
from benchmarks.rows import Row

GROUP = "interference"
TURNS = 25
CANDIDATES = {"jax": "jax_jit_cpu", "numpy": "numpy"}


def measure() -> list[Row]:
    """Compare the import of JAX, or of NumPy where JAX is not installed."""
    module = next(name for name in CANDIDATES if util.find_spec(name) is not None)
    found = interleaved.measure(
        {"worker": lambda: worker(CANDIDATES[module]), "bare": lambda: bare(module)}, TURNS
    )
    worker_ms, bare_ms = ([1e3 * value for value in values] for values in found.values())
    return [
        Row(
            GROUP,
            f"import {module}, fastest tenth",
            f"{_fast(worker_ms):.1f} ms in a worker",
            f"{_fast(bare_ms):.1f} ms bare",
            abs(_fast(worker_ms) - _fast(bare_ms)),
            max(5.0, 0.02 * _fast(bare_ms)),
            "ms",
            {"worker_ms": worker_ms, "bare_ms": bare_ms},
        )
    ]


def _fast(values: list[float]) -> float:
    return statistics.quantiles(values, n=10)[0]


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
