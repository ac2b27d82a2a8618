"""Whole loops against the truth: totals that are added up beside totals that were measured.

``python -m benchmarks.loop_truth`` measures scenarios with ``coldwarm run``, and adds up from what
it finds what a loop takes: the start to the first result, a compiling step for every further shape,
and a plain step for each of the others. It also runs such loops in processes of their own, with
nothing of the harness between the steps, and times each from outside: from before its start to the
end of its last step. The loop over sequences as they come, of thirteen lengths, is predicted from
its own costs, and once more (*) from those that the bucketed one shows, which knows four. Exits
with 1 where the predicted interval and that of the measured mean have no point in common.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import runs
from benchmarks.plan_truth import MISSED, MODES, REPEATS, THREADS, Prediction, program_s
from benchmarks.whole_loops import predict
from rich.console import Console
from rich.table import Table

from coldwarm import registry
from coldwarm.contracts.base import DTYPE_NAMES

if TYPE_CHECKING:
    from coldwarm.contracts.base import CacheMode

EMPTY: CacheMode = "cold_process_cold_cache"
BACKENDS = ("numpy", "jax_jit")
WIDTH = 90
MIN_RUNS = 8


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
    Loop("variable_length", 64, "f32", 20, 13, "variable_length"),
    Loop("variable_length", 64, "f32", 20, 13, "variable_length_bucketed"),
)


@dataclass(frozen=True, kw_only=True)
class Pair(Prediction):
    """A prediction for a whole loop."""

    loop: Loop
    backend: str


def measure(min_runs: int = MIN_RUNS, repeats: int = REPEATS) -> list[Pair]:
    """Measure, run, measure again, and predict; candidates take turns."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        before = _turns(root / "before", repeats)
        run = runs.coldwarm(root / "run", *_arguments(min_runs))
        after = _turns(root / "after", repeats)
        spent = {key: [*before[key], *after[key]] for key in before}
        pairs = ((loop, name) for loop in LOOPS for name in BACKENDS)
        return [_pair(run, loop, name, spent[loop.workload, name]) for loop, name in pairs]


def _turns(root: Path, repeats: int) -> dict[tuple[str, str], list[float]]:
    """Return what every loop takes, in seconds, for workload and backend."""
    root.mkdir()
    found: dict[tuple[str, str], list[float]] = {}
    for turn in range(repeats):
        for loop in {one.workload: one for one in LOOPS}.values():
            for name in BACKENDS:
                spent_s = process_s(loop, name, root / f"{turn}-{loop.workload}-{name}")
                found.setdefault((loop.workload, name), []).append(spent_s)
    return found


def _arguments(min_runs: int) -> list[str]:
    names = [registry.backends()[name].candidate("cpu") for name in BACKENDS]
    cases = [f"{name}_{one.told_by}_{one.size}_{one.dtype}" for one in LOOPS for name in names]
    chosen = [part for case in cases for part in ("--case", case)]
    effort = ["--threads", str(THREADS), "--rounds", str(min_runs), "--cache-mode", MODES]
    return [*chosen, *effort]


def _pair(run: runs.Run, loop: Loop, name: str, spent: list[float]) -> Pair:
    """Add up what a loop takes; NumPy has nothing to compile."""
    told = next(c for c in run.cases if (c.workload, c.backend) == (loop.told_by, name))
    new = loop.shapes if registry.backends()[name].compiles else 0
    other = loop.told_by != loop.workload
    found = predict(told.observations, EMPTY, steps=loop.steps, new=new, other_shapes=other)
    if found is None or found.ends == (None, None):
        sys.exit(f"{told.case} has too few valid processes: {told.reason}")
    return Pair(found.middle, found.low, found.high, spent, loop=loop, backend=name)


def process_s(loop: Loop, name: str, root: Path) -> float:
    """Return how long a process with empty caches takes to the end of its loop."""
    what = [name, f"scenarios.{loop.workload}", str(loop.size), "1", DTYPE_NAMES[loop.dtype]]
    return program_s(what, name, root)


def main() -> int:
    """Print predictions and measured totals side by side."""
    found = measure()
    table = Table(title="whole loops, seconds", title_justify="left", box=None, pad_edge=False)
    for heading in ("scenario", "", "predicted", "interval", "measured", "from … to", ""):
        words = heading in {"scenario", ""}
        table.add_column(heading, justify="left" if words else "right", no_wrap=True)
    for pair in found:
        table.add_row(
            pair.loop.workload + (" *" if pair.loop.told_by != pair.loop.workload else ""),
            pair.backend,
            f"{pair.total_s:.2f}",
            f"{pair.low_s:.2f} … {pair.high_s:.2f}",
            f"{pair.middle_s:.2f}",
            f"{min(pair.measured_s):.2f} … {max(pair.measured_s):.2f}",
            pair.outcome,
        )
    Console(width=WIDTH).print(table)
    return 1 if any(pair.outcome == MISSED for pair in found) else 0


if __name__ == "__main__":
    sys.exit(main())
