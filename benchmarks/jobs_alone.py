"""The curves of ten jobs by size, held against scripts that somebody else wrote from their texts.

All but the formula of ``chain.py``, which its text does not give: that is the job's own.

``python -m benchmarks.jobs_alone [JOB …] [--save]`` runs ``scripts/jobs`` at the smallest and the
largest size that were measured, each framework in a process of its own, three times in an order
drawn anew, and compares how many times as long as NumPy each takes with the committed curve. They
*agree* where these ratios differ by at most 15 %, or where that of a script lies within the curve's
interval.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).resolve().parent
SCRIPTS, RESULTS = HERE / "scripts" / "jobs", HERE / "results" / "jobs_alone.json"
CURVES = HERE.parent / "docs" / "results" / "sizes"
BOUND, ROUNDS = 0.15, 3
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR")}


@dataclass(frozen=True)
class Point:
    """A framework at a size of a job, and what the committed curve says of it."""

    job: str
    size: int
    framework: str
    ratio: float
    """Its warm call over that of NumPy."""
    low: float
    high: float

    def agrees(self, seen: float) -> bool:
        """Say whether a script's ratio is that of the curve."""
        near = 1 / (1 + BOUND) <= seen / self.ratio <= 1 + BOUND
        return near or self.low <= seen <= self.high


def points(job: str) -> Iterator[Point]:
    """Yield the points of a curve that are compared."""
    told = json.loads((CURVES / f"{job}.json").read_text(encoding="utf-8"))
    (curve,) = told["slices"]
    for point in (curve["points"][0], curve["points"][-1]):
        calls = point["call"]
        base = calls["numpy"]
        for name in calls:
            ours = calls[name]
            yield Point(
                job,
                point["size"],
                name,
                ours["median"] / base["median"],
                ours["low"] / base["high"],
                ours["high"] / base["low"],
            )


def call_s(job: str, framework: str, size: int) -> float:
    """Return the seconds of a warm call, as a script tells them."""
    line = [sys.executable, str(SCRIPTS / f"{job}.py"), framework, str(size)]
    told = subprocess.run(
        line, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=True
    )
    return float(json.loads(told.stdout)["call_s"])


def measured(wanted: Sequence[Point], rounds: int) -> list[dict[str, Any]]:
    """Run the scripts in turns; return each ratio beside that of the curve."""
    took: dict[tuple[str, int, str], list[float]] = {}
    for index in range(rounds):
        order = list(wanted)
        random.Random(index).shuffle(order)  # noqa: S311 - an order, not a secret
        for one in order:
            seconds = call_s(one.job, one.framework, one.size)
            took.setdefault((one.job, one.size, one.framework), []).append(seconds)
    found = []
    for one in wanted:
        own, base = (median(took[one.job, one.size, name]) for name in (one.framework, "numpy"))
        found.append({**vars(one), "script_s": own, "script_ratio": own / base})
    return found


def table(rows: Sequence[dict[str, Any]]) -> Table:
    """Return all ratios, those that do not agree marked."""
    made = Table(title="Times NumPy's warm call", title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("job", "size", "framework", "curve", "script", ""):
        made.add_column(name, justify="left" if name in {"job", "framework", ""} else "right")
    for one in rows:
        point = Point(**{name: one[name] for name in Point.__dataclass_fields__})
        mark = "" if point.agrees(one["script_ratio"]) else "apart"
        curve = f"{one['ratio']:.3g} ({one['low']:.3g} to {one['high']:.3g})"
        script = f"{one['script_ratio']:.3g}"
        made.add_row(one["job"], f"{one['size']:,}", one["framework"], curve, script, mark)
    return made


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.jobs_alone", description=__doc__)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help="default: all ten")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    asked = parser.parse_args()
    jobs = asked.jobs or sorted(path.stem for path in CURVES.glob("*.json"))
    wanted = [one for job in jobs for one in points(job)]
    rows = measured([one for one in wanted if one.ratio], asked.rounds)
    (Console() if sys.stdout.isatty() else Console(width=100)).print(table(rows))
    if asked.save:
        about = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "rows": rows}
        about |= {"platform": platform.platform(), "python": platform.python_version()}
        RESULTS.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
