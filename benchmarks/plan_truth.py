"""Plans against the truth: totals that ``coldwarm plan`` predicts beside totals that were measured.

``python -m benchmarks.plan_truth`` measures a case with ``coldwarm run``, predicts what a process
of N calls will take, starts such processes, and times each from outside: from before its start to
the end of its last call. Exits with 1 where the predicted interval and that of the measured mean
have no point in common. Beside it stands how many of the processes lie in the range of one.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import runs
from rich.console import Console
from rich.table import Table

from coldwarm import registry
from coldwarm.runner import isolation
from coldwarm.stats.expected import margin

if TYPE_CHECKING:
    from collections.abc import Sequence

WORKLOAD, SIZE = "mlp_train_step", 128
BACKENDS = ("numpy", "jax_jit")
CALLS = (3, 300, 3000)
REPEATS = 3
"""Processes before the run that predicts, and as many after it: the machine changes its speed."""
THREADS = 1
MODES = "cold_process_cold_cache,warm_process"
EFFORT = ("--threads", str(THREADS), "--rounds", "8", "--cache-mode", MODES)
WIDTH = 100
MISSED = "MISSED"
LOOP = Path(__file__).with_name("plan_loop.py")


@dataclass(frozen=True)
class Prediction:
    """What was predicted and what came true, in seconds."""

    total_s: float
    low_s: float
    high_s: float
    measured_s: list[float]

    @property
    def middle_s(self) -> float:
        """The mean of the measured totals."""
        return statistics.fmean(self.measured_s)

    @property
    def outcome(self) -> str:
        """Whether the measured mean lies in the predicted interval, or its own one meets it."""
        if self.low_s <= self.middle_s <= self.high_s:
            return "inside"
        series = {str(number): seconds for number, seconds in enumerate(self.measured_s)}
        found = margin([(1.0, series)], [(0.0, series)])  # their mean with its interval
        known = found.ends != (None, None)
        return (
            "meets" if known and found.low <= self.high_s and found.high >= self.low_s else MISSED
        )


@dataclass(frozen=True, kw_only=True)
class Pair(Prediction):
    """A prediction for a number of calls."""

    backend: str
    calls: int
    range_s: tuple[float, float]

    @property
    def n_in_range(self) -> int:
        """How many of the measured processes lie where one was predicted to."""
        low_s, high_s = self.range_s
        return sum(low_s <= spent <= high_s for spent in self.measured_s)


def measure(
    backends: tuple[str, ...] = BACKENDS, calls: tuple[int, ...] = CALLS, repeats: int = REPEATS
) -> list[Pair]:
    """Measure, run, measure again, and predict; candidates take turns."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        names = {name: registry.backends()[name].candidate("cpu") for name in backends}
        cases = [f"{name}_{WORKLOAD}_{SIZE}_f32" for name in names.values()]
        chosen = [part for case in cases for part in ("--case", case)]
        found: dict[tuple[str, int], list[float]] = {}
        for turn in range(2 * repeats):
            if turn == repeats:
                runs.coldwarm(root / "run", *chosen, *EFFORT)
            for number in calls:
                for name in backends:
                    spent_s = process_s(name, number, root / f"{turn}-{number}-{name}")
                    found.setdefault((name, number), []).append(spent_s)
        return [
            _pair(root / "run", names[name], spent, name, number)
            for (name, number), spent in found.items()
        ]


def _pair(directory: Path, candidate: str, spent: list[float], backend: str, calls: int) -> Pair:
    total = predicted(directory, candidate, calls)
    return Pair(
        total_s=total["total_s"],
        low_s=total["low_s"],
        high_s=total["high_s"],
        measured_s=spent,
        backend=backend,
        calls=calls,
        range_s=(total["process_low_s"], total["process_high_s"]),
    )


def predicted(directory: Path, candidate: str, calls: int) -> dict[str, Any]:
    """Return the total that ``coldwarm plan`` tells, with its bounds."""
    command = [runs.COLDWARM, "plan", str(directory), "--calls", str(calls), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (plan,) = json.loads(done.stdout)["plans"]
    total: dict[str, Any] = next(o for o in plan["totals"] if o["candidate"] == candidate)
    return total


def process_s(name: str, calls: int, root: Path) -> float:
    """Return how long a process with empty caches takes to its last call."""
    return program_s([name, WORKLOAD, str(SIZE), str(calls)], name, root)


def program_s(what: Sequence[str], name: str, root: Path) -> float:
    """Return how long ``plan_loop.py`` takes, on the processors that the run's processes have."""
    command = [sys.executable, str(LOOP), str(THREADS), *what]
    root.mkdir()
    environment = isolation.process_variables(
        os.environ,
        registry.backends()[name],
        device="cpu",
        threads=THREADS,
        mode="cold_process_cold_cache",
        root=root,
        mark="",
        deterministic=False,
    )
    begin_ns = time.perf_counter_ns()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return (int(done.stdout.split()[-1]) - begin_ns) / 1e9


def main() -> int:
    """Print predictions and measured totals side by side."""
    found = measure()
    table = Table(title=f"{WORKLOAD} {SIZE} f32, seconds", title_justify="left", box=None)
    for heading in (
        "candidate",
        "calls",
        "predicted",
        "interval",
        "measured",
        "one process",
        "",
        "",
    ):
        table.add_column(heading, justify="right")
    for pair in found:
        table.add_row(
            pair.backend,
            f"{pair.calls:,}",
            f"{pair.total_s:.3f}",
            f"{pair.low_s:.3f} … {pair.high_s:.3f}",
            f"{pair.middle_s:.3f}",
            f"{pair.range_s[0]:.3f} … {pair.range_s[1]:.3f}",
            f"{pair.n_in_range} of {len(pair.measured_s)}",
            pair.outcome,
        )
    Console(width=WIDTH).print(table)
    return 1 if any(pair.outcome == MISSED for pair in found) else 0


if __name__ == "__main__":
    sys.exit(main())
