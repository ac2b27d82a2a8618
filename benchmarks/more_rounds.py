"""What one more round tells, by another way of bounding rounds and by that of coldwarm.

``python -m benchmarks.more_rounds [--trials N] [--save]`` holds both against each other on the same
draws of equal programs and of one that is 4 % slower: how often the interval of 97 % holds the
truth, how often equal programs are called different, the same, and how often 4 % is told; how often
a lone 50 % is told in a table of 30 pairs; how often rounds that follow each other are called
alike; and how often several equal runs against one were called different. ``--save`` writes
``results/more_rounds.json``.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from coldwarm.stats.intervals import paired_rows
from coldwarm.stats.ratio import compare_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Floats = NDArray[np.float64]
Bounds = tuple[Floats, Floats, Floats]
RESULTS = Path(__file__).parent / "results" / "more_rounds.json"
ROUNDS = (5, 6, 7, 8, 9, 10, 11, 12, 15, 20)
CONFIDENCE, BAND, SLOWER = 0.97, math.log(1.02), math.log(1.04)
ROWS = 30
TRIALS = 20_000


def _side(kind: str, rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    struck = rng.random(shape) < 0.1
    normal = rng.standard_normal(shape)
    if kind == "stray":
        sign = rng.choice([-1.0, 1.0], shape)
        return np.asarray(0.003 * normal + struck * sign * rng.uniform(0.05, 0.1, shape))
    if kind == "bursts":
        return np.asarray(0.01 * normal + struck * np.log1p(rng.uniform(0.2, 0.6, shape)))
    if kind == "modes":
        return np.asarray(0.005 * normal + (rng.random(shape) < 0.5) * math.log(1.4))
    return np.asarray(0.01 * normal)


KINDS = ("log-normal", "stray", "bursts", "modes")
"""Noise of 1 %; one process in ten 5 to 10 % off, or 20 to 60 % slower; half of them 40 % slower.
"""


def before(values: Floats, confidence: float) -> Bounds:
    """Bound rounds the other way: by Student's t below ten of them, then by signed ranks."""
    n = values.shape[-1]
    first, second = np.triu_indices(n)
    means = np.sort((values[:, first] + values[:, second]) / 2, axis=-1)
    middle = np.median(means, axis=-1)
    if n < 10:
        error = values.std(axis=-1, ddof=1) / math.sqrt(n)
        half = float(stdtrit(n - 1, 0.5 + confidence / 2)) * error
        mean = values.mean(axis=-1)
        return middle, np.minimum(middle, mean - half), np.maximum(middle, mean + half)
    chances = np.zeros(n * (n + 1) // 2 + 1)
    chances[0] = 1.0
    for rank in range(1, n + 1):
        chances[rank:] = (chances[rank:] + chances[:-rank]) / 2
        chances[:rank] /= 2
    outside = int(np.searchsorted(np.cumsum(chances), (1 - confidence) / 2, side="right")) - 1
    if outside < 0:
        return middle, np.full_like(middle, -math.inf), np.full_like(middle, math.inf)
    return middle, means[:, outside], means[:, -1 - outside]


METHODS: dict[str, Callable[[Floats, float], Bounds]] = {"before": before, "now": paired_rows}


def rounds(kind: str, n: int, trials: int) -> dict[str, dict[str, float]]:
    """Return the shares of either method for one kind of noise and number of rounds."""
    rng = np.random.default_rng([KINDS.index(kind), n])
    values = _side(kind, rng, (trials, n)) - _side(kind, rng, (trials, n))
    found = {}
    for name, bounded in METHODS.items():
        _, low, high = bounded(values, CONFIDENCE)
        _, above, _ = bounded(values + SLOWER, CONFIDENCE)
        found[name] = {
            "held": float(((low <= 0) & (high >= 0)).mean()),
            "false": float(((low > BAND) | (high < -BAND)).mean()),
            "same": float(((low >= -BAND) & (high <= BAND)).mean()),
            "told": float((above > BAND).mean()),
        }
    return found


def lone(n: int, trials: int) -> dict[str, float]:
    """Return how often a lone 50 % with noise of 5 % is told, all other rows being undecided."""
    rng = np.random.default_rng([n, 7])
    values = math.log(1.5) + 0.05 * rng.standard_normal((trials, n))
    sure = 1 - 0.05 / ROWS
    return {
        name: float((bounded(values, sure)[1] > BAND).mean()) for name, bounded in METHODS.items()
    }


def related(values: Sequence[float]) -> bool:
    """Say whether a comparison says of its rounds that they follow each other alike."""
    pairs = {str(number): [value] for number, value in enumerate(values)}
    reason = compare_pairs("warm.call_s", "b", pairs).reason
    return "rounds_related" in {reason.code, *(part.code for part in reason.parts)}


def alike(n: int, correlation: float, trials: int) -> float:
    """Return how often rounds are called alike, whose neighbours have this correlation."""
    rng = np.random.default_rng([n, round(10 * correlation)])
    noise = rng.standard_normal((trials, n))
    values = noise.copy()
    for place in range(1, n):
        carried = correlation * values[:, place - 1]
        values[:, place] = carried + math.sqrt(1 - correlation**2) * noise[:, place]
    return sum(map(related, values.tolist())) / trials


def runs(kind: str, n_a: int, n_b: int, trials: int) -> float:
    """Return how often equal runs were called different by Student's t, whatever their numbers."""
    rng = np.random.default_rng([KINDS.index(kind), n_a, n_b])
    a, b = (2 * _side(kind, rng, (trials, n)) for n in (n_a, n_b))
    squares = sum(((side - side.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) for side in (a, b))
    freedom = n_a + n_b - 2
    error = np.sqrt(squares / freedom * (1 / n_a + 1 / n_b))
    half = float(stdtrit(freedom, 0.5 + CONFIDENCE / 2)) * error
    middle = a.mean(axis=1) - b.mean(axis=1)
    return float(((middle - half > BAND) | (middle + half < -BAND)).mean())


def measured(trials: int) -> dict[str, object]:
    """Simulate everything."""
    few = max(200, trials // 10)
    return {
        "rounds": {k: {str(n): rounds(k, n, trials) for n in ROUNDS} for k in KINDS},
        "lone": {str(n): lone(n, few) for n in ROUNDS},
        "alike": {
            str(n): {str(c): alike(n, c, few) for c in (0.0, 0.3, 0.5, 0.7)}
            for n in (8, 10, 12, 15, 20, 30)
        },
        "runs": {
            f"{a} against {b}": {k: runs(k, a, b, trials) for k in KINDS}
            for a, b in ((4, 1), (8, 1), (3, 2), (4, 2), (3, 3), (5, 5))
        },
    }


def table(found: dict[str, dict[str, dict[str, dict[str, dict[str, float]]]]]) -> str:
    """Return the comparison in Markdown: the other way and that of coldwarm, in percent."""
    shown = [n for n in map(str, ROUNDS) if n in {"5", "6", "8", "9", "10", "12", "20"}]
    heads = ["percent, other → coldwarm", *(f"{n} rounds" for n in shown)]
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    said = {
        "held": "interval holds the truth (97)",
        "false": "equal, called different (< 3)",
        "same": "equal, called the same",
        "told": "4 % slower, told",
    }
    for kind, by_n in found["rounds"].items():
        for name, words in said.items():
            cells = [_both(by_n[n], name) for n in shown]
            lines.append(f"| {kind}: {words} | {' | '.join(cells)} |")
    lone_ = [_pair(*found["lone"][n].values()) for n in shown]  # type: ignore[arg-type]
    lines.append(f"| a lone 50 % among {ROWS} pairs, told | {' | '.join(lone_)} |")
    return "\n".join(lines) + "\n"


def _both(methods: dict[str, dict[str, float]], name: str) -> str:
    return _pair(*(methods[method][name] for method in METHODS))


def _pair(first: float, second: float) -> str:
    digits = 1 if max(first, second) < 0.1 else 0
    return f"{100 * first:.{digits}f} → {100 * second:.{digits}f}"


def main() -> int:
    """Simulate, print everything, and write it down where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.more_rounds", description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, help="of each figure")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} as well")
    asked = parser.parse_args()
    found = measured(asked.trials)
    made = table(found)  # type: ignore[arg-type]
    sys.stdout.write(made + json.dumps({k: found[k] for k in ("alike", "runs")}, indent=1) + "\n")
    if asked.save:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
