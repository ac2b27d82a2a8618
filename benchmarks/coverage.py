"""How often published intervals hold the truth, and what verdicts come of equal programs.

Run with ``python -m benchmarks.coverage [--trials N] [--save]``. All is simulated, so that the
truth is known. Rows are ways in which noise scatters; columns are numbers of processes or rounds.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from benchmarks import coverage_plan
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE, assess, median_interval
from coldwarm.stats.ratio import Shared, compare, compare_pairs, compare_starts, held

if TYPE_CHECKING:
    from coldwarm.contracts.answer import Comparison

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]
RESULTS = Path(__file__).parent / "results" / "coverage.json"
SPREAD = 0.03
TRIALS = 2000
PROCESSES = (2, 3, 4, 5, 6, 7, 8, 10, 15, 20)
WIDTH = 110


def _normal(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(np.exp(SPREAD * rng.standard_normal(n)))


def _bursts(rng: np.random.Generator, n: int) -> Floats:
    struck = rng.random(n) < 0.15
    return np.asarray(_normal(rng, n) * (1 + struck * rng.exponential(0.3, n)))


def _two_modes(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(np.exp(0.005 * rng.standard_normal(n)) * (1 + 0.08 * (rng.random(n) < 0.3)))


def _drift(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(_normal(rng, n) * np.linspace(0.97, 1.03, n))


NOISE: dict[str, Draw] = {
    "log-normal": _normal,
    "bursts": _bursts,
    "two modes": _two_modes,
    "drifting": _drift,
}


def _far(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(np.exp(0.3 * rng.standard_normal(n)))


def _two_speeds(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(_normal(rng, n) * np.where(rng.random(n) < 0.5, 2.5, 1.0))


def _heavy(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(np.exp(0.15 * rng.standard_t(2, n)))


WILD: dict[str, Draw] = {
    "log-normal, 30 %": _far,
    "heavy tails": _heavy,
    "half at 2.5 times": _two_speeds,
}
"""Noise beyond that of most machines, by which few rounds may be deceived."""


def _truth(draw: Draw, n: int) -> float:
    rng = np.random.default_rng(99)
    return float(np.median(np.concatenate([draw(rng, n) for _ in range(100_000 // n)])))


def medians(kind: str, n: int, trials: int) -> float:
    """Return the share of trials in which the interval of a figure holds the true median."""
    draw, rng = NOISE[kind], np.random.default_rng([n, trials])
    truth = _truth(draw, n)
    found = [median_interval(draw(rng, n).tolist()) for _ in range(trials)]
    return sum((one.low or 0.0) <= truth <= (one.high or 0.0) for one in found) / trials


def stopped(kind: str, most: int, trials: int) -> float:
    """Return that of medians of which measuring stopped as soon as they were precise enough."""
    draw, rng = NOISE[kind], np.random.default_rng([most, trials])
    truth, hits = _truth(draw, most), 0
    for _ in range(trials):
        values = draw(rng, most).tolist()
        n = 3
        while n < most and not assess(values[:n], target=0.05, fewest=5, most=most).met:
            n += 1
        one = median_interval(values[:n])
        hits += (one.low or 0.0) <= truth <= (one.high or 0.0)
    return hits / trials


def ratios(kind: str, n: int, trials: int) -> float:
    """Return that of the ratio of two equal programs with noise in common and of their own."""
    rng = np.random.default_rng([n, trials, 1])
    found = [_equal(kind, n, rng) for _ in range(trials)]
    return sum((one.low or 0.0) <= 1 <= (one.high or math.inf) for one in found) / trials


IMPORT, OF_IMPORT = 0.4, 5.0
"""What an import takes, over the work after it, and how many times as much it scatters."""


def starts(kind: str, n: int, trials: int) -> float:
    """Return that of the ratio of two equal starts that have the mean import of each round."""
    rng, hits = np.random.default_rng([n, trials, 5]), 0
    for _ in range(trials):
        imports = [IMPORT * NOISE[kind](rng, n) ** OF_IMPORT for _ in range(2)]
        common = np.mean(imports, axis=0)
        sides = [(common + NOISE[kind](rng, n)).tolist() for _ in range(2)]
        ours, theirs = ({str(k): [v] for k, v in enumerate(side)} for side in sides)
        one = compare("cold_process_cold_cache.ttfr_s", "b", ours, theirs, tested=False)
        hits += (one.low or 0.0) <= 1 <= (one.high or math.inf)
    return hits / trials


OF_TURNS, MOST_DEARER = 0.021, 0.15
"""Standard deviation of the ratio of equal starts in turns, the largest that
``benchmarks/start_pairs.py`` has measured, and the most that a part of a start is dearer in turns:
the whole was by 6 to 9 %."""


def turns(kind: str, n: int, trials: int) -> float:
    """Return that of the ratio of starts in turns, one of which works up to half as long again.

    Import and work are dearer in turns, each by another share. There are two rounds alone, or as
    many as are asked for where turns would be too few.
    """
    draw, rng, hits = NOISE[kind], np.random.default_rng([n, trials, 6]), 0
    for _ in range(trials):
        work, more = rng.uniform(0.2, 2.0), 1 + rng.uniform(0.0, 0.5)
        importing, working = 1 + rng.uniform(0.0, MOST_DEARER, 2)
        truth = (1 + work * more) / (1 + work)
        seen = (importing + working * work * more) / (importing + working * work)
        scatters = OF_TURNS / (math.sqrt(2) * SPREAD) * np.log(draw(rng, n) / draw(rng, n))
        n_alone = n if n < FEWEST_FOR_CONFIDENCE else 2
        ours, theirs = (
            {str(k): [float(value)] for k, value in enumerate(level * draw(rng, n_alone))}
            for level in (truth, 1.0)
        )
        values = (math.log(seen) + scatters).tolist()
        one = compare_starts(
            "cold_process_cold_cache.ttfr_s", "b", ours, theirs, values, tested=False
        )
        hits += (one.low or 0.0) <= truth <= (one.high or math.inf)
    return hits / trials


FORKS, OF_FORKS, OF_TEMPLATES = 4, 0.005, 0.003
"""Forks of a template, and standard deviations of log-ratios in forks and between templates: the
largest that ``benchmarks/nested.py`` has measured."""


def shared(kind: str, n: int, trials: int) -> float:
    """Return that of the ratio by processes that call both, most of them forks of few templates.

    Their rounds of separate processes are fewer, and scatter as others do.
    """
    draw, rng = NOISE[kind], np.random.default_rng([n, trials, 4])
    scale, hits = OF_FORKS / (math.sqrt(2) * SPREAD), 0
    for _ in range(trials):
        own = np.log(draw(rng, n) / draw(rng, n)) * scale
        common = np.repeat(OF_TEMPLATES * rng.standard_normal(n), FORKS)[:n]
        rounds = np.log(draw(rng, n) / draw(rng, n))
        rounds = rounds[: max(2, n // FORKS)] if n >= FEWEST_FOR_CONFIDENCE else rounds
        pairs = {str(k): [float(one)] for k, one in enumerate(rounds)}
        both = [Shared(float(one), process=k // FORKS) for k, one in enumerate(own + common)]
        one = compare_pairs("warm.call_s", "b", pairs, both, tested=False)
        hits += (one.low or 0.0) <= 1 <= (one.high or math.inf)
    return hits / trials


def different(kind: str, n: int, trials: int) -> float:
    """Return the share of pairs of equal programs that are called different."""
    rng = np.random.default_rng([n, trials, 3])
    found = [_equal(kind, n, rng).verdict for _ in range(trials)]
    return sum(one in {"faster", "slower"} for one in found) / trials


def _equal(kind: str, n: int, rng: np.random.Generator) -> Comparison:
    draw, common = {**NOISE, **WILD}[kind], np.exp(0.2 * rng.standard_normal(n))
    sides = [(common * draw(rng, n)).tolist() for _ in range(2)]
    ours, theirs = ({str(k): [v] for k, v in enumerate(side)} for side in sides)
    return compare("warm.call_s", "b", ours, theirs)


def tables(kind: str, n: int, trials: int, verdicts: int = 30) -> float:
    """Return the share of tables of equal programs in which any verdict is a difference."""
    rng = np.random.default_rng([n, trials, 2])
    wrong = 0
    for _ in range(trials):
        judged = held([_equal(kind, n, rng) for _ in range(verdicts)])
        wrong += any(one.verdict in {"faster", "slower"} for one in judged)
    return wrong / trials


def _planned(claim: Callable[[Draw, int, int], float]) -> Callable[[str, int, int], float]:
    return lambda kind, n, trials: claim(NOISE[kind], n, trials)


DIFFERENT = "equal programs that are called different"
CLAIMS: dict[str, tuple[Callable[[str, int, int], float], int]] = {
    "median": (medians, 1),
    "median, with stopping at ±5 %": (stopped, 1),
    "ratio, at 97 %": (ratios, 1),
    "ratio by forks, at 97 %": (shared, 1),
    "ratio of starts in turns, at 97 %": (turns, 1),
    "ratio of starts with their import in common, at 97 %": (starts, 1),
    DIFFERENT: (different, 1),
    "tables of 30 equal programs with a false difference": (tables, 10),
    "break-even": (_planned(coverage_plan.meeting), 4),
    "expected total": (_planned(coverage_plan.totals), 1),
    "difference of two totals": (_planned(coverage_plan.margins), 1),
    "range of one process": (_planned(coverage_plan.processes), 1),
}


def main() -> int:
    """Simulate, print the tables and return 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, help="of each figure")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} as well")
    parser.add_argument("--claim", action="append", choices=CLAIMS, help="only this one; repeat")
    asked = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    claims = {name: CLAIMS[name] for name in asked.claim or CLAIMS}
    rows = [row for row in known if row["claim"] in CLAIMS and row["claim"] not in claims]
    for claim, (simulate, times_fewer) in claims.items():
        shown = Table(title=claim, title_justify="left", box=None)
        shown.add_column("noise")
        for n in PROCESSES:
            shown.add_column(str(n), justify="right")
        for kind in {**NOISE, **WILD} if claim == DIFFERENT else NOISE:
            shares = [simulate(kind, n, asked.trials // times_fewer) for n in PROCESSES]
            shown.add_row(kind, *(f"{100 * share:.1f}" for share in shares))
            figures = dict(zip(map(str, PROCESSES), shares, strict=True))
            rows.append({"claim": claim, "noise": kind, "shares": figures})
        console.print(shown)
    rows.sort(key=lambda row: [*CLAIMS].index(row["claim"]))
    if asked.save:
        RESULTS.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
