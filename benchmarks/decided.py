"""How much a run has decided: its open verdicts, and how wide the intervals of its figures are.

``python -m benchmarks.decided RUN … [--save]`` reads runs, such as those of ``coldwarm run`` in
its 200 s, and adds them to ``results/decided.json``. A figure's half-width is that of its
interval over its median, or of its range where it has too few processes for an interval; one of
a single process has none.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from coldwarm.runner import recompute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.result import CaseResult

RESULTS = Path(__file__).parent / "results" / "decided.json"


def half_widths(case: CaseResult) -> Iterator[float]:
    """Yield the relative half-widths of first results and warm calls; infinite: there is none."""
    found = [mode.seconds.get("ttfr") for mode in case.cold]
    found.append(case.warm.call_s if case.warm else None)
    for one in found:
        if one is None or one.low is None or one.high is None or not one.median:
            yield float("inf")
        else:
            yield (one.high - one.low) / 2 / one.median


def summary(path: Path) -> dict[str, Any]:
    """Return what a run has decided."""
    run = recompute.read(path)
    cases = [case for case in run.cases.values() if case.observations]
    verdicts = [one for case in cases for one in case.comparisons]
    widths = [width for case in cases for width in half_widths(case)]
    suite = run.suite
    return {
        "started_at": suite.started_at if suite else None,
        "wall_s": suite.wall_s if suite else None,
        "n_processes": sum(len(case.observations) for case in cases),
        "n_verdicts": len(verdicts),
        "undecided": [
            f"{case.case} {one.metric}"
            for case in cases
            for one in case.comparisons
            if one.verdict == "undecided"
        ],
        "n_figures": len(widths),
        "median_half_width_share": median(widths),
    }


def main() -> int:
    """Print a line for each run and return 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decided", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="a run's directory")
    parser.add_argument("--save", action="store_true", help=f"add them to {RESULTS.name}")
    asked = parser.parse_args()
    found = [summary(path) for path in asked.runs]
    shown = Table(title="What runs have decided", title_justify="left", box=None)
    for heading in ("begun", "wall clock", "processes", "verdicts open", "median half-width"):
        shown.add_column(heading, justify="left" if heading == "begun" else "right")
    for one in found:
        verdicts = f"{len(one['undecided'])} of {one['n_verdicts']}"
        width = f"{100 * one['median_half_width_share']:.1f} % of {one['n_figures']}"
        begun, took = one["started_at"], f"{one['wall_s']:.0f} s"
        shown.add_row(begun, took, str(one["n_processes"]), verdicts, width)
    (Console() if sys.stdout.isatty() else Console(width=110)).print(shown)
    if asked.save:
        known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
        RESULTS.write_text(json.dumps([*known, *found], indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
