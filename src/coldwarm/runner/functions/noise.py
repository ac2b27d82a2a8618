"""Measures a program against itself, on the engine and with the options of a bench."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from coldwarm.runner.functions import bench

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.runner.listener import Listener
    from coldwarm.runner.suite import Outcome

Regime = Literal["warm", "cold"]
SAMPLE = f"{Path(__file__).resolve().parents[2] / 'functions' / 'sample.py'}:work"
"""What is measured where no other program is named."""
SAMPLE_INPUT = "x=f64[8192]"
MOST_PAIRS = bench.MOST_RUNS


@dataclass(frozen=True)
class Request:
    """What is measured, for how long, and how it is judged."""

    target: str = SAMPLE
    inputs: Sequence[str] = (SAMPLE_INPUT,)
    time_s: float = 60.0
    """For all regimes together."""
    regimes: Sequence[Regime] = ("warm", "cold")
    threshold: float = bench.THRESHOLD
    seed: int = 0
    threads: int | None = None

    @property
    def name(self) -> str:
        """Of the program: the sample's own, wherever it is installed."""
        return "coldwarm.functions.sample:work" if self.target == SAMPLE else self.target


@dataclass(frozen=True)
class Part:
    """One regime: what its bench left, and how long all of it took."""

    outcome: Outcome
    total_s: float


def run(request: Request, out_dir: Path, *, listener: Listener | None = None) -> list[Part]:
    """Measure each regime for its share of the time; fewer where it was interrupted.

    Raises:
        UsageError: the program or an input is not what it should be.
        RunDirectoryError: the directory cannot be used.
        StorageError: a file could not be written.
    """
    found: list[Part] = []
    for regime in request.regimes:
        began_s = time.perf_counter()
        outcome = bench.run(_bench(request, regime), out_dir / regime, listener=listener)
        found.append(Part(outcome, time.perf_counter() - began_s))
        if outcome.interrupted:
            break
    return found


def _bench(request: Request, regime: Regime) -> bench.Request:
    options = bench.options(
        cold=regime == "cold",
        warm=regime == "warm",
        time_budget_s=request.time_s / len(request.regimes),
        threshold=request.threshold,
        seed=request.seed,
        threads=request.threads,
    )
    # No verdict and no precision ends it: all of the time is to be used.
    options = replace(options, decide=None, precision=0.0)
    return bench.Request(
        targets=[f"{side}={request.target}" for side in ("A", "B")],
        inputs=request.inputs,
        name="noise",
        options=options,
    )
