"""Whether a sweep's intervals hold borders that are known, and how wide they are.

``python -m benchmarks.sweep_borders [--save]`` simulates sweeps of six pairs of functions whose
costs cross at a known size, twice or never (``tests/stats/sizes.py``), with one and with two
percent of scatter between rounds. ``--real N`` measures the same pairs N times with real functions,
whose work is so many rounds of a key derivation, by ``coldwarm bench --sweep`` with 90 seconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from benchmarks.trials import tools
from rich.console import Console
from rich.table import Table
from tests.stats.sizes import Pair, swept

from coldwarm.runner import sweep_results
from coldwarm.stats import sweeps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.sweep import Border

RESULTS = Path(__file__).parent / "results" / "sweep_borders.json"
LOW, HIGH = 100, 1_000_000
SECONDS = 90
RUNS = 300


class Known(NamedTuple):
    """A pair, and the sizes at which the cheapest of it changes."""

    pair: Pair
    borders: tuple[float, ...]


CROSSINGS = (1_700, 23_000, 140_000, 700_000)
"""Between sizes of the grid."""
PAIRS = {
    **{f"at {size:,}": Known(Pair.crossing(size), (size,)) for size in CROSSINGS},
    "never": Known(Pair.without(), ()),
    "at 1,500 and 6,000": Known(Pair.twice(1_500, 6_000), (1_500, 6_000)),
}


def holds(found: Sequence[Border], true: Sequence[float]) -> bool:
    """Say whether there are as many borders as there should be, and each interval holds its own."""
    return len(found) == len(true) and all(
        one.low <= size <= one.high for one, size in zip(found, true, strict=True)
    )


def simulated(name: str, noise: float, runs: int) -> dict[str, Any]:
    """Return how often sweeps of a pair are right, and how wide their borders are."""
    known = PAIRS[name]
    found = []
    for seed in range(runs):
        points = swept(known.pair, LOW, HIGH, np.random.default_rng(seed), most=14, noise=noise)
        found.append(sweeps.by_size(points, sweeps.Measure(None, None)).borders)
    return {"pair": name, "noise_share": noise, **_told(found, known.borders)}


def _told(found: Sequence[Sequence[Border]], true: Sequence[float]) -> dict[str, Any]:
    widths = [one.half_width for each in found for one in each]
    return {
        "runs": len(found),
        "held": sum(holds(each, true) for each in found),
        "half_width_share": statistics.median(widths) if widths else None,
    }


FUNCTIONS = '''
"""Two functions whose work is known at every size: so many rounds of a key derivation."""

import hashlib


def _work(units):
    hashlib.pbkdf2_hmac("sha256", b"key", b"salt", max(1, round(units)))


def a(x, n):
    _work({a})
    return x + 1.0


def b(x, n):
    _work({b})
    return x + 1.0
'''
LONGEST = 65_000
"""Rounds of a call at the largest size, some 30 ms: in 90 seconds a size may take no minute."""


def crossing(size: int) -> tuple[str, str]:
    """Return the work of two functions that is the same at a size."""
    unit = min(500.0, LONGEST / (1 + 3 * HIGH / size))
    return f"{unit:.1f} * (1 + 3 * n / {size})", f"{unit:.1f} * (3 + n / {size})"


FORMULAS = {
    **{f"at {size:,}": crossing(size) for size in CROSSINGS},
    "never": ("1000 + 0.01 * n", "2000 + 0.02 * n"),
    "at 1,500 and 6,000": (
        "4000",
        "4000 * __import__('math').exp(0.5 * (abs(__import__('math').log(n / 3000)) - 0.6931))",
    ),
}


def real(name: str, times: int) -> dict[str, Any]:
    """Return how often real sweeps of a pair are right."""
    a, b = FORMULAS[name]
    found = []
    for number in range(times):
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            (folder / "work.py").write_text(FUNCTIONS.format(a=a, b=b), encoding="utf-8")
            command = [str(tools.SCRIPTS / "coldwarm"), "bench", "work.py:a", "work.py:b"]
            command += [
                "--input",
                "x=f64[8]",
                "--input",
                "n=n",
                "--sweep",
                f"n={LOW}:{HIGH}",
                "--warm-only",
            ]
            command += ["--time-budget", f"{SECONDS}s", "--out", "out"]
            tools.ask(command, folder)
            report = sweep_results.read(folder / "out")
        told = report.slices[0].by_size
        found.append(told[0].borders if told else [])
        print(f"{name}, {number + 1} of {times}: {_shown(found[-1])}", file=sys.stderr)
    return {"pair": name, "seconds": SECONDS, **_told(found, PAIRS[name].borders)}


def _shown(found: Sequence[Border]) -> str:
    return ", ".join(f"{one.low} to {one.high}" for one in found) or "no border"


def main() -> int:
    """Print a row for each pair and return 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep_borders", description=__doc__)
    parser.add_argument("--real", type=int, metavar="N", help="measure each pair N times")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"simulated; default: {RUNS}")
    parser.add_argument("--save", action="store_true", help=f"into {RESULTS.name}")
    asked = parser.parse_args()
    kind = "real" if asked.real else "simulated"
    if asked.real:
        found = [real(name, asked.real) for name in PAIRS]
    else:
        found = [simulated(name, noise, asked.runs) for name in PAIRS for noise in (0.01, 0.02)]
    shown = Table(title=f"Borders of sweeps, {kind}", title_justify="left", box=None)
    for heading in ("crosses", "scatter", "held", "median half-width"):
        shown.add_column(heading, justify="left" if heading == "crosses" else "right")
    for one in found:
        noise = f"{one['noise_share']:.0%}" if "noise_share" in one else ""
        width = one["half_width_share"]
        told = "" if width is None else f"{width:.1%}"
        shown.add_row(one["pair"], noise, f"{one['held']} of {one['runs']}", told)
    Console().print(shown)
    if asked.save:
        known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        known[kind] = found
        RESULTS.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
