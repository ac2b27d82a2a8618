"""How often a change in a history is called that is none, and how soon one is told.

``python -m benchmarks.change_points [--series N] [--save]`` draws series of log-ratios of runs with
the scatter that runs have on a shared machine, and judges each again after every run, as a
history does that grows. Of series without a step it counts the runs after which a change is called
that is none; of those with one, in how many it is told by the third run that has it. ``--save``
writes ``results/change_points.json``. Exits with 1 where a bound is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from coldwarm.stats.change_points import FEWEST, changes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESULTS = Path(__file__).parent / "results" / "change_points.json"
SCATTERS = (0.003, 0.0075)
"""Of ratios of runs of one program around their level: fresh pairs of processes scatter by 0.3 %
with NumPy and JAX, and by 1.3 % with eager PyTorch, of which a run has three or more."""
LONG = 60
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)
WITHIN = 3
"""Runs by which a step is to be told."""
MOST_FALSE, LEAST_TOLD = 1 / 1000, 0.95


def _normal(rng: np.random.Generator, scatter: float) -> Floats:
    return rng.normal(0.0, scatter, LONG)


def _heavy(rng: np.random.Generator, scatter: float) -> Floats:
    return np.asarray(scatter / math.sqrt(3) * rng.standard_t(3, LONG))


def _strays(rng: np.random.Generator, scatter: float) -> Floats:
    struck = rng.random(LONG) < 0.03
    return np.asarray(_normal(rng, scatter) + struck * np.log1p(rng.uniform(0.1, 0.6, LONG)))


def _related(rng: np.random.Generator, scatter: float) -> Floats:
    found = _normal(rng, scatter * math.sqrt(1 - 0.3**2))
    for place in range(1, LONG):
        found[place] += 0.3 * found[place - 1]
    return found


def _drift(rng: np.random.Generator, scatter: float) -> Floats:
    return np.asarray(_normal(rng, scatter) + scatter / 5 * np.arange(LONG))


def _modes(rng: np.random.Generator, scatter: float) -> Floats:
    return np.asarray(_normal(rng, scatter) + 10 * scatter * (rng.random(LONG) < 0.25))


KINDS: dict[str, Callable[[np.random.Generator, float], Floats]] = {
    "normal": _normal,
    "heavy tails": _heavy,
    "3 % stray runs": _strays,
    "runs that follow each other alike": _related,
    "a drift": _drift,
    "two modes": _modes,
}
_HARD = {"a drift", "two modes"}
"""Kinds in which a step of 5 % may be told later."""


def false(kind: str, scatter: float, n: int) -> tuple[int, int]:
    """Return after how many runs a change is called that is none, and of how many."""
    rng = np.random.default_rng(1)
    called = points = 0
    for _ in range(n):
        values = KINDS[kind](rng, scatter).tolist()
        known: set[int] = set()
        for end in range(FEWEST, LONG + 1):
            points += 1
            new = {one.at for one in changes(values[:end])}
            called += any(all(abs(at - one) > WITHIN for one in known) for at in new)
            known |= new
    return called, points


def told(kind: str, scatter: float, step: float, n: int) -> int:
    """Return in how many series a step is told by the third run that has it."""
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(n):
        at = int(rng.integers(20, LONG - WITHIN))
        values = KINDS[kind](rng, scatter)
        values[at:] += math.log1p(step)
        seen = changes(values[: at + WITHIN].tolist())
        found += any(abs(one.at - at) <= WITHIN and one.size > 0 for one in seen)
    return found


def main() -> int:
    """Draw what was asked for, print the table, and return 1 where a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.change_points", description=__doc__)
    parser.add_argument("--series", type=int, default=400, help="of each kind; default: 400")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} as well")
    given = parser.parse_args()
    table = Table("noise", "scatter", "false, of runs", *(f"{step:.0%} told" for step in STEPS))
    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        for scatter in SCATTERS:
            called, points = false(kind, scatter, max(1, given.series // 10))
            steps = {step: told(kind, scatter, step, given.series) for step in STEPS}
            told_ = {f"{step}": n / given.series for step, n in steps.items()}
            rows.append(
                {"kind": kind, "scatter": scatter, "false": called, "runs": points, "told": told_}
            )
            shares = (f"{share:.0%}" for share in told_.values())
            table.add_row(kind, f"{scatter:.1%}", f"{called} of {points}", *shares)
    Console(width=120).print(table)
    if given.save:
        document = {"series": given.series, "rows": rows}
        RESULTS.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    wrong = any(row["false"] > 2 + MOST_FALSE * row["runs"] for row in rows)
    late = any(row["told"]["0.05"] < LEAST_TOLD for row in rows if row["kind"] not in _HARD)
    return int(wrong or late)


if __name__ == "__main__":
    sys.exit(main())
