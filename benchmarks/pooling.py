"""How often an interval over machines holds the true middle, and the next machine.

``python -m benchmarks.pooling [--save]`` draws the ratios of 3 to 20 machines, which differ by
nothing, by as much as their own errors, or by five times as much, with equal errors or with errors
that differ four times, and pools each set as ``coldwarm history pool`` does.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from coldwarm.stats.pooled import pool

RESULTS = Path(__file__).parent / "results" / "pooling.json"
MACHINES = (3, 4, 5, 8, 12, 20)
ERROR, MIDDLE = 0.01, 0.1
BETWEEN = (0.0, 0.01, 0.05)
RUNS = 4000


def simulated(n: int, between: float, *, uneven: bool, runs: int = RUNS) -> dict[str, float]:
    """Return how often intervals hold the middle and a further machine, and how wide they are."""
    rng = np.random.default_rng([n, round(1000 * between), uneven])
    held = predicted = 0
    widths = []
    for _ in range(runs):
        errors = ERROR * (np.exp(rng.uniform(-np.log(2), np.log(2), n)) if uneven else np.ones(n))
        machines = MIDDLE + between * rng.normal(size=n + 1)
        seen = machines[:-1] + errors * rng.normal(size=n)
        found = pool(seen.tolist(), errors.tolist())
        held += found.low <= MIDDLE <= found.high
        predicted += found.predicted_low <= machines[-1] <= found.predicted_high
        widths.append(found.high - found.low)
    return {
        "machines": n,
        "between": between,
        "uneven": uneven,
        "held": held / runs,
        "predicted": predicted / runs,
        "half_width": float(np.median(widths)) / 2,
    }


def main() -> None:
    """Simulate all, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    rows = [
        simulated(n, between, uneven=uneven)
        for uneven in (False, True)
        for between in BETWEEN
        for n in MACHINES
    ]
    table = Table("machines", "between", "errors", "holds the middle", "the next", "half-width")
    for one in rows:
        table.add_row(
            str(one["machines"]),
            f"{one['between']:.0%}",
            "uneven" if one["uneven"] else "equal",
            f"{one['held']:.1%}",
            f"{one['predicted']:.1%}",
            f"{one['half_width']:.2%}",
        )
    Console().print(table)
    if asked.save:
        record = {"runs": RUNS, "rows": rows}
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
