"""How often nominal 95 % intervals hold the true median: simulated, printed as one table.

Run with ``python benchmarks/coverage.py [trials]``. The figures in the documentation of
``coldwarm.stats.bootstrap`` come from here. Rows are ways in which process medians scatter;
columns are numbers of processes. Cold processes give one value each; warm ones thirty samples
with one-sided noise of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coldwarm.stats.bootstrap import median_interval

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]
SPREAD = 0.03
SAMPLES = 30
TRIALS = 4000
PROCESSES = (2, 3, 4, 5, 6, 7, 8, 10, 20)
NORMAL_MEDIAN_OF_EXPONENTIAL = float(np.log(2))

SCATTER: dict[str, tuple[Draw, float]] = {
    "log-normal": (lambda rng, n: np.exp(SPREAD * rng.standard_normal(n)), 1.0),
    "exponential": (
        lambda rng, n: 1 + SPREAD * rng.exponential(size=n),
        1 + SPREAD * NORMAL_MEDIAN_OF_EXPONENTIAL,
    ),
    "spikes": (lambda rng, n: 1 + SPREAD * np.exp(rng.standard_normal(n)), 1 + SPREAD),
    "Student t3": (lambda rng, n: np.exp(SPREAD * rng.standard_t(3, n)), 1.0),
    "uniform": (lambda rng, n: 1 + SPREAD * rng.random(n), 1 + SPREAD / 2),
}


def cold(draw: Draw, rng: np.random.Generator, n: int) -> list[list[float]]:
    """Return one value for each of n processes."""
    return [[float(value)] for value in draw(rng, n)]


def warm(draw: Draw, rng: np.random.Generator, n: int) -> list[list[float]]:
    """Return a series for each process: its own level, times one-sided noise of median 1."""
    noise = (1 + SPREAD * np.exp(rng.standard_normal((n, SAMPLES)))) / (1 + SPREAD)
    return [list(level * row) for level, row in zip(draw(rng, n), noise, strict=True)]


def coverage(
    make: Callable[[Draw, np.random.Generator, int], list[list[float]]],
    scatter: str,
    n: int,
    trials: int,
) -> float:
    """Return the share of trials in which the interval holds the true median."""
    draw, truth = SCATTER[scatter]
    rng = np.random.default_rng([n, trials])
    held = 0
    for trial in range(trials):
        interval = median_interval(make(draw, rng, n), seed=trial)
        held += (interval.low or 0.0) <= truth <= (interval.high or 0.0)
    return held / trials


def table(trials: int) -> str:
    """Return the whole table as text, in percent."""
    lines = [f"{'':16s}" + "".join(f"{n:>6d}" for n in PROCESSES)]
    for regime, make in (("cold", cold), ("warm", warm)):
        for scatter in SCATTER:
            shares = [coverage(make, scatter, n, trials) for n in PROCESSES]
            figures = "".join(f"{100 * share:6.1f}" for share in shares)
            lines.append(f"{regime} {scatter:11s}" + figures)
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table(int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS) + "\n")
