"""How much the ratio of two equal starts scatters: one after the other, and in turns.

``python -m benchmarks.start_pairs [--pairs N] [--save]`` compares the starts of the trials with
themselves by ``coldwarm bench``, which measures N pairs alone and then pairs in turns until the
verdict is clear, at most as many. Of either it takes the standard deviation of the logarithms of
the ratios, with all that a start has: nothing that both have in common is taken out. A start in
turns is dearer: its median against that of starts alone says by how much.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.trials import tools
from benchmarks.trials.settings import HERE, KINDS

from coldwarm.contracts import codec
from coldwarm.contracts.base import EMPTY
from coldwarm.contracts.result import CaseResult
from coldwarm.stats.selection import counted, starts_in_turns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.observation import Observation

RESULTS = Path(__file__).parent / "results" / "start_pairs.json"
COLD = tuple(name for name, kind in KINDS.items() if kind.cold)
PAIRS = 12


def measured(kind: str, pairs: int) -> dict[str, Any]:
    """Return the seconds to a first result of both sides by round: alone, and in turns."""
    subject = KINDS[kind]
    target = f"{HERE / subject.file}:units_{subject.base}"
    sides = [f"A={target}", f"B={target}", "--input", subject.given]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        asked = ["--cold-only", "--rounds", str(pairs), "--max-rounds", str(2 * pairs)]
        command = [str(tools.SCRIPTS / "coldwarm"), "bench", *sides, *asked, "--out", str(out)]
        tools.ask(command, Path(folder), codes=(0, 4))
        cases = [codec.load_as(CaseResult, one) for one in sorted(out.glob("cases/*.json"))]
    return {
        "kind": kind,
        "alone": _by_round([counted(case.observations, EMPTY) for case in cases]),
        "turns": _by_round([starts_in_turns(case.observations, EMPTY) for case in cases]),
    }


def _by_round(sides: Sequence[Sequence[Observation]]) -> list[list[float]]:
    first, second = ({one.round: one.ttfr_s for one in side if one.ttfr_s} for side in sides)
    return [[first[key], second[key]] for key in sorted(first) if key in second]


def spread(pairs: Sequence[Sequence[float]]) -> float:
    """Return the standard deviation of the logarithms of the ratios."""
    return statistics.stdev(math.log(mine / other) for mine, other in pairs)


def middle_s(pairs: Sequence[Sequence[float]]) -> float:
    """Return the median of both sides."""
    return statistics.median(value for pair in pairs for value in pair)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what was found as a table of Markdown, with how often each was measured."""
    lines = [["start", "one after the other", "in turns", "a start in turns takes"]]
    lines.append(["---"] * len(lines[0]))
    for row in rows:
        cells = [f"{100 * spread(row[one]):.1f} % ({len(row[one])})" for one in ("alone", "turns")]
        dearer = middle_s(row["turns"]) / middle_s(row["alone"]) - 1
        lines.append([row["kind"], *cells, f"{100 * dearer:+.0f} %"])
    return (
        "Two equal starts with empty caches: the standard deviation of their ratio, with the number"
        " of pairs in parentheses.\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)
    )


def main() -> int:
    """Measure, print the table and return 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start_pairs", description=__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} as well")
    asked = parser.parse_args()
    rows = [measured(kind, asked.pairs) for kind in COLD]
    sys.stdout.write(table(rows) + "\n")
    if asked.save:
        RESULTS.write_text(json.dumps(rows) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
