"""Start-up: ``coldwarm --help`` beside ``pyperf --help`` and a bare interpreter, in turns."""

from __future__ import annotations

import statistics
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import interleaved, runs
from benchmarks.rows import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GROUP = "start-up"
ROUNDS = 15
BOUND_RATIO = 2.0
HEAVY = ("jax", "jaxlib", "numba", "numpy", "scipy", "torch", "triton")
_LIST_MODULES = """
import sys
from coldwarm.cli.main import main
sys.argv = ["coldwarm", "--help"]
try:
    main()
except SystemExit:
    print("loaded:", *sorted({name.partition(".")[0] for name in sys.modules}))
"""


def measure() -> list[Row]:
    """Time the three commands, and look at what the first one loads."""
    pyperf = str(Path(sysconfig.get_path("scripts"), "pyperf"))
    found = interleaved.measure(
        {
            "coldwarm": _timed([runs.COLDWARM, "--help"]),
            "pyperf": _timed([pyperf, "--help"]),
            "python": _timed([sys.executable, "-c", "pass"]),
        },
        ROUNDS,
    )
    own_s, pyperf_s, bare_s = (statistics.median(values) for values in found.values())
    return [
        Row(
            GROUP,
            "coldwarm --help / pyperf --help",
            f"{1e3 * own_s:.0f} ms",
            f"{1e3 * pyperf_s:.0f} ms; bare {1e3 * bare_s:.0f} ms",
            own_s / pyperf_s,
            BOUND_RATIO,
            "×",
            series={f"{name}_s": values for name, values in found.items()},
        ),
        heavy(),
    ]


def _timed(command: Sequence[str]) -> Callable[[], float]:
    def once() -> float:
        begin_s = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - begin_s

    return once


def heavy() -> Row:
    """Count the frameworks among the modules that ``coldwarm --help`` has loaded."""
    said = subprocess.run(
        [sys.executable, "-c", _LIST_MODULES], capture_output=True, text=True, check=True
    ).stdout
    loaded = said.rpartition("loaded:")[2].split()
    found = [name for name in HEAVY if name in loaded]
    what = "frameworks, NumPy, SciPy loaded"
    measured = ", ".join(found) or "none"
    return Row(GROUP, what, measured, f"of {len(loaded)} packages", len(found), 0, "")
