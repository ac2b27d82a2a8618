"""A program against itself, as a bench that uses all of the time it is given. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from coldwarm.runner.functions.request import MOST_RUNS, THRESHOLD, Request
from coldwarm.runner.functions.request import options as bench_options

if TYPE_CHECKING:
    from collections.abc import Sequence

Regime = Literal["warm", "cold"]
SAMPLE = f"{Path(__file__).resolve().parents[2] / 'functions' / 'sample.py'}:work"
"""What is measured where no other program is named."""
SAMPLE_INPUT = "x=f64[8192]"
MOST_PAIRS = MOST_RUNS


@dataclass(frozen=True)
class NoiseRequest:
    """What is measured, for how long, and how it is judged."""

    target: str = SAMPLE
    inputs: Sequence[str] = (SAMPLE_INPUT,)
    time_s: float = 60.0
    """For all regimes together."""
    regimes: Sequence[Regime] = ("warm", "cold")
    threshold: float = THRESHOLD
    sync: str | None = None
    seed: int = 0
    threads: int | None = None

    @property
    def name(self) -> str:
        """Of the program: the sample's own, wherever it is installed."""
        return "coldwarm.functions.sample:work" if self.target == SAMPLE else self.target

    def benches(self) -> dict[str, Request]:
        """Return a bench for each regime, of the program against itself."""
        return {regime: self._bench(regime) for regime in self.regimes}

    def _bench(self, regime: Regime) -> Request:
        options = bench_options(
            cold=regime == "cold",
            warm=regime == "warm",
            time_budget_s=self.time_s / len(self.regimes),
            threshold=self.threshold,
            seed=self.seed,
            threads=self.threads,
        )
        # No verdict and no precision ends it: all of the time is to be used.
        options = replace(options, decide=None, precision=0.0)
        return Request(
            targets=[f"{side}={self.target}" for side in ("A", "B")],
            inputs=self.inputs,
            sync=self.sync,
            name="noise",
            options=options,
        )
