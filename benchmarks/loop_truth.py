"""Whole loops against the truth: totals that are added up beside totals that were measured.

``python -m benchmarks.loop_truth`` measures scenarios with ``coldwarm run``, and adds up from what
it finds what a loop takes: the start to the first result, a compiling step for every further shape,
and a plain step for each of the others. Then it runs such loops in processes of their own, with
nothing of the harness between the steps, and times each from outside: from before its start to the
end of its last step. The loop over sequences as they come, of thirteen lengths, is predicted from
the costs that the bucketed one shows, which knows four. Exits with 1 where a measured median lies
outside the predicted interval by more than ``MARGIN`` of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import runs
from benchmarks.plan_truth import LOOP, MODES, THREADS, Prediction
from rich.console import Console
from rich.table import Table

from coldwarm import registry
from coldwarm.contracts.base import DTYPE_NAMES
from coldwarm.runner import variables
from coldwarm.stats.loops import predict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode

EMPTY: CacheMode = "cold_process_cold_cache"
BACKENDS = ("numpy", "jax_jit")
WIDTH = 90
MIN_RUNS = 8
REPEATS = 5


@dataclass(frozen=True)
class Loop:
    """A scenario, and what someone who plans to run it knows of it."""

    workload: str
    size: int
    dtype: str
    steps: int
    shapes: int
    """Different ones, each of which ``jax.jit`` compiles."""
    told_by: str
    """The scenario whose measured costs are added up."""


LOOPS = (
    Loop("small_fits", 100, "f64", 200, 1, "small_fits"),
    Loop("hyperparameter_sweep", 256, "f32", 15, 5, "hyperparameter_sweep"),
    Loop("variable_length", 64, "f32", 20, 13, "variable_length_bucketed"),
)


@dataclass(frozen=True, kw_only=True)
class Pair(Prediction):
    """A prediction for a whole loop."""

    loop: Loop
    backend: str

    @property
    def inside(self) -> bool:
        """Whether the measured median lies in the interval as it was stated."""
        return self.low_s <= self.middle_s <= self.high_s


def measure(min_runs: int = MIN_RUNS, repeats: int = REPEATS) -> list[Pair]:
    """Run, predict and measure; candidates take turns."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        run = runs.coldwarm(root / "run", *_arguments(min_runs))
        processors = run.cases[0].protocol.affinity
        found: dict[tuple[Loop, str], list[float]] = {}
        for turn in range(repeats):
            for loop in LOOPS:
                for name in BACKENDS:
                    caches = root / f"{turn}-{loop.workload}-{name}"
                    spent_s = process_s(loop, name, caches, processors)
                    found.setdefault((loop, name), []).append(spent_s)
        return [_pair(run, loop, name, spent) for (loop, name), spent in found.items()]


def _arguments(min_runs: int) -> list[str]:
    names = [registry.backends()[name].candidate("cpu") for name in BACKENDS]
    cases = [f"{name}_{one.told_by}_{one.size}_{one.dtype}" for one in LOOPS for name in names]
    chosen = [part for case in cases for part in ("--case", case)]
    effort = ["--threads", str(THREADS), "--min-runs", str(min_runs), "--cache-mode", MODES]
    return [*chosen, *effort]


def _pair(run: runs.Run, loop: Loop, name: str, spent: list[float]) -> Pair:
    """Add up what a loop takes; NumPy has nothing to compile."""
    told = next(c for c in run.cases if (c.workload, c.backend) == (loop.told_by, name))
    new = loop.shapes if registry.backends()[name].kind.compiles else 0
    found = predict(told.observations, EMPTY, steps=loop.steps, new=new)
    if found is None or found.low is None or found.high is None:
        sys.exit(f"{told.case} has too few valid processes: {told.reason}")
    return Pair(found.middle, found.low, found.high, spent, loop=loop, backend=name)


def process_s(loop: Loop, name: str, root: Path, processors: Sequence[int]) -> float:
    """Return how long a process with empty caches takes to the end of its loop."""
    allowed = ",".join(map(str, processors))
    what = [name, loop.workload, str(loop.size), "1", DTYPE_NAMES[loop.dtype]]
    root.mkdir()
    environment = variables.build(
        os.environ,
        registry.backends()[name].kind,
        device="cpu",
        threads=THREADS,
        mode=EMPTY,
        root=root,
        mark="",
        deterministic=False,
    )
    begin_ns = time.perf_counter_ns()
    command = [sys.executable, str(LOOP), allowed, *what]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return (int(done.stdout.split()[-1]) - begin_ns) / 1e9


def main() -> int:
    """Print predictions and measured totals side by side."""
    found = measure()
    table = Table(title="whole loops, seconds", title_justify="left", box=None, pad_edge=False)
    for heading in ("scenario", "", "predicted", "interval", "measured", "from … to", ""):
        words = heading in {"scenario", ""}
        table.add_column(heading, justify="left" if words else "right", no_wrap=True)
    for pair in found:
        told = "inside" if pair.inside else "agrees" if pair.agrees else "MISSED"
        table.add_row(
            pair.loop.workload,
            pair.backend,
            f"{pair.total_s:.2f}",
            f"{pair.low_s:.2f} … {pair.high_s:.2f}",
            f"{pair.middle_s:.2f}",
            f"{min(pair.measured_s):.2f} … {max(pair.measured_s):.2f}",
            told,
        )
    Console(width=WIDTH).print(table)
    return 0 if all(pair.agrees for pair in found) else 1


if __name__ == "__main__":
    sys.exit(main())
