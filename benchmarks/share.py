"""Share: how much of a run's time passes outside the processes that it measures.

The quick suite, two rounds, on every framework that is installed. A process counts while it
runs, not while it is held, so the sum of processes is the shortest that the same processes
with the same samples could take one after another.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks import runs
from benchmarks.rows import Row

GROUP = "share"
BOUND_PERCENT = 3.0


def measure() -> list[Row]:
    """Run the quick suite once and compare three clocks."""
    with tempfile.TemporaryDirectory() as name:
        run = runs.coldwarm(
            Path(name, "out"), "--suite", "quick", "--rounds", "2", "--max-rounds", "2"
        )
    wall_s, measured_s = run.suite.wall_s, run.suite.measured_s
    return [
        _outside("suite outside processes", wall_s, measured_s),
        _outside("command outside processes", run.command_s, measured_s),
        Row(
            GROUP,
            "command − sum of processes",
            f"{run.command_s:.2f} s",
            f"{measured_s:.2f} s of processes",
            100 * (run.command_s / measured_s - 1),
            BOUND_PERCENT,
            "%",
        ),
    ]


def _outside(what: str, whole_s: float, measured_s: float) -> Row:
    outside_s = whole_s - measured_s
    share = 100 * outside_s / whole_s
    return Row(GROUP, what, f"{outside_s:.2f} s", f"of {whole_s:.2f} s", share, BOUND_PERCENT, "%")
