"""How long a comparison takes until it is known to ±2 %, with coldwarm and with pyperf.

``python -m benchmarks.precision [--rounds N] [--save]`` compares a function with itself, for NumPy,
JAX and eager PyTorch: the subjects of the trials. A round has everything once, in an order drawn
anew: ``coldwarm bench`` with each of several time budgets, and pyperf's own command, which starts
20 processes for one function and then as many for the other.

*coldwarm*: half the width of the interval that it states, at 97 %. *pyperf* states none, so it is
that of Welch's t on the logarithms of its processes' means, at 95 %, after two processes of either
side, three, and so on. The seconds of those are the share of the whole that so many of its
processes take, the calibrating one of each side included: as if it could end at the best moment.

A tool's seconds are the fewest after which half of the rounds had an interval of ±2 % or less.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import sys
import tempfile
import time
from functools import partial
from importlib import metadata
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from benchmarks import interleaved
from benchmarks.trials import tools
from benchmarks.trials.settings import HERE, KINDS
from scipy import stats

from coldwarm import __version__
from coldwarm.runner import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RESULTS = Path(__file__).parent / "results" / "precision.json"
GOALS = {"numpy": 1 / 3, "jax": 1 / 2, "torch": 1 / 2}
"""The kinds, and the most seconds of coldwarm as a share of pyperf's."""
BUDGETS_S = (6, 10, 16)
WITHIN, ROUNDS = 0.02, 6
Widths = list[tuple[float, float | None]]
"""Seconds, and half the relative width of the interval that is known after them; ``None``: none
is."""


def with_coldwarm(kind: str, budget_s: int) -> Widths:
    """Compare a function with itself in this time, by the command."""
    subject = KINDS[kind]
    target = f"{HERE / subject.file}:units_{subject.base}"
    asked = [f"A={target}", f"B={target}", "--input", subject.given, "--warm-only", "--json"]
    command = [str(tools.SCRIPTS / "coldwarm"), "bench", *asked, "--time-budget", f"{budget_s}s"]
    with tempfile.TemporaryDirectory() as folder:
        begin_s = time.perf_counter()
        try:
            done = tools.ask(command, Path(folder), codes=(0, 4))
            found = tools.read_bench(done.stdout, done.returncode)
        except tools.TrialFailedError:  # there was no time for both sides
            found = tools.Outcome({})
        seconds = time.perf_counter() - begin_s
    if found.ratio is None or found.low is None or found.high is None:
        return [(seconds, None)]
    return [(seconds, (found.high - found.low) / 2 / found.ratio)]


def with_pyperf(kind: str) -> Widths:
    """Measure a function twice, and return what each number of processes would have told."""
    subject = KINDS[kind]
    script = [sys.executable, str(HERE / "with_pyperf.py"), "--units", str(subject.base)]
    script += ["--kind", kind, "--shape", subject.shape]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("a.json", "b.json")]
        begin_s = time.perf_counter()
        for file in files:
            tools.ask([*script, "-o", str(file)], Path(folder))
        seconds = time.perf_counter() - begin_s
        sides = [_logarithms(file) for file in files]
    whole = sum(n_runs for n_runs, _ in sides)
    calibrating = sum(n_runs - len(means) for n_runs, means in sides)
    return [
        (seconds * (calibrating + 2 * n) / whole, welch(*(means[:n] for _, means in sides)))
        for n in range(2, min(len(means) for _, means in sides) + 1)
    ]


def _logarithms(file: Path) -> tuple[int, list[float]]:
    import pyperf

    runs = pyperf.Benchmark.load(str(file)).get_runs()
    return len(runs), [math.log(fmean(one.values)) for one in runs if one.values]


def welch(a: Sequence[float], b: Sequence[float]) -> float:
    """Return half the width of the 95 % interval of the ratio of two sides' logarithms."""
    bounds = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    return float(math.expm1((bounds.high - bounds.low) / 2))


def seconds_until(rounds: Sequence[Widths]) -> float | None:
    """Return the seconds after which half of the rounds had ±2 %; ``None``: they never had."""
    for step in zip(*rounds, strict=True):
        if median(math.inf if width is None else width for _, width in step) <= WITHIN:
            return float(median(seconds for seconds, _ in step))
    return None


def measured(n_rounds: int) -> dict[str, dict[str, list[Widths]]]:
    """Return each kind's rounds, by the tool; coldwarm's have one step for each budget."""
    asked: dict[str, Callable[[], Widths]] = {}
    for kind in GOALS:
        asked[f"{kind} pyperf"] = partial(with_pyperf, kind)
        for budget_s in BUDGETS_S:
            asked[f"{kind} {budget_s}"] = partial(with_coldwarm, kind, budget_s)
    found = interleaved.measure(asked, n_rounds, discard=0)
    return {
        kind: {
            "coldwarm": [
                [found[f"{kind} {budget_s}"][place][0] for budget_s in BUDGETS_S]
                for place in range(n_rounds)
            ],
            "pyperf": found[f"{kind} pyperf"],
        }
        for kind in GOALS
    }


def table(found: dict[str, dict[str, list[Widths]]]) -> str:
    """Return the seconds of either tool in Markdown, with the goal of each kind."""
    lines = ["| kind | coldwarm | pyperf, at best | its whole command | share | goal |"]
    lines.append("|---|---|---|---|---|---|")
    for kind, by_tool in found.items():
        own, other = (seconds_until(by_tool[tool]) for tool in ("coldwarm", "pyperf"))
        whole = median(one[-1][0] for one in by_tool["pyperf"])
        against = other if other is not None else whole
        share = None if own is None else own / against
        told = "–" if share is None else f"{share:.2f}"
        met = "met" if share is not None and share <= GOALS[kind] else "missed"
        cells = (kind, _s(own), _s(other), _s(whole), told, f"{GOALS[kind]:.2f}: {met}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _s(seconds: float | None) -> str:
    return "not reached" if seconds is None else f"{seconds:.1f} s"


def main() -> int:
    """Measure, print the table, and write everything down where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.precision", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} as well")
    asked = parser.parse_args()
    found = measured(asked.rounds)
    sys.stdout.write(table(found))
    if asked.save:
        versions = {name: metadata.version(name) for name in ("pyperf", "numpy", "jax", "torch")}
        told: dict[str, Any] = {
            "coldwarm": __version__,
            "commit": environment.collect().harness.git_commit,
            "python": platform.python_version(),
            "cpu": environment.collect().cpu.model,
            "versions": versions,
            "kinds": found,
        }
        RESULTS.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
