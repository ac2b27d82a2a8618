"""Starts of programs as ``bench --command`` times them, beside an independent stopwatch.

``python -m benchmarks.command_starts [--rounds N] [--save]`` starts each program in turns with the
same filled caches: *plain*, by ``subprocess.run`` and without what watches it, and as ``bench
--command`` does, which tells a time. The difference is what watching costs, and what the two clocks
differ by.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import interleaved
from rich.console import Console
from rich.table import Table

from coldwarm.commands.measure import CommandRequest, Runner
from coldwarm.commands.process import Ready, argv
from coldwarm.contracts.base import FILLED
from coldwarm.runner.spawn import Guard
from coldwarm.stats.intervals import CONFIDENCE, paired

if TYPE_CHECKING:
    from collections.abc import Mapping

RESULTS = Path(__file__).parent / "results" / "command_starts.json"
JITTED = Path(__file__).parents[1] / "tests" / "cache" / "jitted.py"
PROGRAMS = {
    "nothing": "-c pass",
    "NumPy": "-c 'import numpy'",
    "JAX, two functions": str(JITTED),
    "PyTorch": "-c 'import torch'",
}
WATCHES = {"COLDWARM_DOCTOR", "COLDWARM_DOCTOR_PASS", "PYTHONPATH"}


def plain(command: str, variables: Mapping[str, str]) -> float:
    """Return the seconds of a command with the same environment, but for what watches it."""
    kept = {name: value for name, value in variables.items() if name not in WATCHES}
    begin_s = time.perf_counter()
    subprocess.run(argv(command), env=kept, check=True, capture_output=True)
    return time.perf_counter() - begin_s


def compared(name: str, rounds: int) -> dict[str, Any]:
    """Return the seconds of a program by both, and by how much they differ."""
    command = f"{sys.executable} {PROGRAMS[name]}"
    with tempfile.TemporaryDirectory() as folder, Guard() as guard:
        root, unused = Path(folder) / "caches", Path(folder) / "unused"
        request = CommandRequest({name: command}, Ready(), signal.SIGTERM)
        runner = Runner(request, guard, Path(folder))
        variables = runner.variables(name, FILLED, root, unused)
        seen = interleaved.measure(
            {
                "plain": lambda: plain(command, variables),
                "told": lambda: runner.start(name, FILLED, 0, root).ready_s or 0.0,
            },
            rounds,
        )
    cost = paired([b - a for a, b in zip(seen["plain"], seen["told"], strict=True)], CONFIDENCE)
    return {
        "program": name,
        "plain_s": median(seen["plain"]),
        "told_s": median(seen["told"]),
        "cost_s": cost.middle,
        "cost_low_s": cost.low,
        "cost_high_s": cost.high,
    }


def main() -> None:
    """Time all programs, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    rows = [compared(name, asked.rounds) for name in PROGRAMS]
    table = Table("program", "plain", "told", "differ by")
    for one in rows:
        told = [f"{1000 * one[key]:.1f} ms" for key in ("plain_s", "told_s", "cost_s")]
        bounds = f" ({1000 * one['cost_low_s']:.1f} to {1000 * one['cost_high_s']:.1f})"
        table.add_row(one["program"], *told[:2], told[2] + bounds)
    Console().print(table)
    if asked.save:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        record = {"at": at, "rounds": asked.rounds, "programs": rows}
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
